/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * B. Su and G. L. Olson, "An analytical benchmark for non-equilibrium radiative
 * transfer in an isotropically scattering medium", Annals of Nuclear Energy 24
 * (1997) 1035: their transport solution without scattering, epsilon = 1. Unit
 * source for |x| < 0.5 until tau = 10; x in mean free paths. Radiation energy
 * and material energy over a, at tau = 0.1, 1 and 10.
 */
#ifndef TESTS_RUN_SU_OLSON_H
#define TESTS_RUN_SU_OLSON_H

static const double su_olson_tau[3] = {0.1, 1.0, 10.0};

static const struct su_olson_row {
    double x, radiation[3], material[3];
} su_olson[] = {
    {0.01, {0.09531, 0.64308, 2.23575}, {0.00468, 0.27126, 2.11186}},
    {0.10, {0.09531, 0.63585, 2.21944}, {0.00468, 0.26839, 2.09585}},
    {0.17783, {0.09532, 0.61958, 2.18344}, {0.00468, 0.26261, 2.06052}},
    {0.31623, {0.09529, 0.56187, 2.06448}, {0.00468, 0.23978, 1.94365}},
    {0.45, {0.08823, 0.44711, 1.86072}, {0.00455, 0.18826, 1.74291}},
    {0.5, {0.04765, 0.35801, 1.73178}, {0.00234, 0.14187, 1.61536}},
    {0.56234, {0.00375, 0.25374, 1.57496}, {0.00005, 0.08838, 1.46027}},
    {0.75, {0, 0.11430, 1.27398}, {0, 0.03014, 1.16591}},
    {1.0, {0, 0.03648, 0.98782}, {0, 0.00625, 0.88992}},
    {1.33352, {0, 0.00291, 0.70822}, {0, 0.00017, 0.62521}},
    {1.77828, {0, 0, 0.45016}, {0, 0, 0.38688}},
    {3.16228, {0, 0, 0.09673}, {0, 0, 0.07642}},
    {5.62341, {0, 0, 0.00375}, {0, 0, 0.00253}},
    {10.0, {0, 0, 0}, {0, 0, 0}},
    {17.78279, {0, 0, 0}, {0, 0, 0}},
};

#endif /* TESTS_RUN_SU_OLSON_H */
