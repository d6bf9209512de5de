/* SPDX-License-Identifier: BSD-3-Clause */
/* Stage 2: scattering by laws, electrons, or a function of the caller. */
#include "host/host.h"

#include <math.h>
#include <string.h>

storm_status storm_host_set_scattering(struct storm_host *host, int material,
                                       storm_scattering_law law)
{
    static const char what[] = "storm_host_set_scattering";
    struct host_material *m;
    storm_status status = host_enter_material(host, what, material, &m);
    if (status < 0)
        return status;
    if ((int)law < STORM_SCATTER_ISOTROPIC || law > STORM_SCATTER_USER)
        return host_fail(host, STORM_ERR_ARG,
                         "%s: law: expected isotropic (0), Thomson (1), "
                         "Compton (2) or user (3), got %d",
                         what, (int)law);
    m->scattering_law = law;
    return STORM_OK;
}

storm_status storm_host_set_electrons(struct storm_host *host, int material,
                                      double per_g)
{
    static const char what[] = "storm_host_set_electrons";
    struct host_material *m;
    storm_status status = host_enter_material(host, what, material, &m);
    if (status < 0)
        return status;
    if (!host_is_between(per_g, 0.0, 1e30))
        return host_fail(host, STORM_ERR_ARG,
                         "%s: expected a number from 0 to 1e30, got %g", what,
                         per_g);
    m->electrons_per_g = per_g;
    return STORM_OK;
}

storm_status storm_host_set_scatter(struct storm_host *host,
                                    storm_host_scatter *scatter, void *self)
{
    storm_status status =
        host_enter(host, "storm_host_set_scatter", HOST_SETUP, HOST_MESH);
    if (status < 0)
        return status;
    if (scatter == NULL)
        return host_fail(host, STORM_ERR_ARG,
                         "storm_host_set_scatter: no function");
    host->scatter = scatter;
    host->scatter_self = self;
    return STORM_OK;
}

void storm_host_random(void *draws, double uniform_out[4])
{
    if (draws != NULL && uniform_out != NULL)
        storm_scattering_random(draws, uniform_out);
}

/* The apply of struct storm_imc_scatter. An energy that cannot be ends the
 * step with an error. */
static int scatter_apply(void *self, struct storm_scattering *s)
{
    const struct storm_host *host = self;
    const double matter[2] = {s->temperature_kev, s->density_g_cm3};
    double photon[5] = {s->direction[0], s->direction[1], s->direction[2],
                        s->energy_kev, s->weight_ratio};
    int answer = host->scatter(host->scatter_self, s->material, s->tag, matter,
                               photon, s);
    if (answer == 0)
        return 0;
    memcpy(s->direction, photon, sizeof s->direction);
    s->energy_kev = answer > 0 ? photon[3] : NAN;
    s->weight_ratio = photon[4];
    return 1;
}

storm_status host_scatter_begin(struct storm_host *host)
{
    const struct storm_imc_scatter scatter = {
        .size = sizeof scatter, .self = host, .apply = scatter_apply};
    return host->scatter != NULL ? storm_imc_set_scatter(host->imc, &scatter)
                                 : STORM_OK;
}

storm_status host_scatter_check(const struct storm_host *host)
{
    for (size_t i = 0; i < host->n_materials; i++)
        if (host->materials[i].scattering_law == STORM_SCATTER_USER &&
            host->scatter == NULL)
            return host_fail(host, STORM_ERR_STATE,
                             "storm_host_begin: %s scatters by a function: "
                             "storm_host_set_scatter",
                             host->materials[i].name);
    return STORM_OK;
}
