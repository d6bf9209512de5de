#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Critical size of a bare slab and a bare sphere: one group, isotropic scattering.

    python3 tests/reference/critical.py

With lengths in mean free paths and c = (sigma_s + nu sigma_f) / sigma_t, the
flux of the slab |x| < a obeys

    phi(x) = c/2 integral from -a to a of E1(|x - y|) phi(y) dy,

and r phi(r) of the sphere r < a obeys the same equation with an odd solution. The
integral is a Gauss-Legendre sum after subtraction of the singularity,

    integral of E1(|x - y|) (phi(y) - phi(x)) dy + phi(x) (2 - E2(a + x) - E2(a - x)),

its largest eigenvalue in the even (odd) functions comes from power iteration, and
a is where it is 1/c. Compared with A. Sood, R. A. Forster and D. K. Parsons,
Analytical benchmark test set for criticality code verification, Progress in
Nuclear Energy 42 (2003) 55-106: problems PUa-1-0-SL, PUb-1-0-SL, PUb-1-0-SP.
"""
import math

SIGMA_T, SIGMA_S, SIGMA_F = 0.32640, 0.225216, 0.081600  # per cm, Pu-239


def e1(x):
    """Exponential integral: series below 1, continued fraction above."""
    if x < 1.0:
        total, term = -0.57721566490153286 - math.log(x), 1.0
        for k in range(1, 40):
            term *= -x / k
            total -= term / k
        return total
    f = 0.0
    for k in range(120, 0, -1):
        f = k / (1.0 + k / (x + f))
    return math.exp(-x) / (x + f)


def e2(x):
    return 1.0 if x == 0.0 else math.exp(-x) - x * e1(x)


def gauss(n):
    """Nodes and weights on (-1, 1)."""
    nodes, weights = [], []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(50):
            p0, p1 = 1.0, x
            for k in range(2, n + 1):
                p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
            slope = n * (x * p1 - p0) / (x * x - 1.0)
            step = p1 / slope
            x -= step
            if abs(step) < 1e-15:
                break
        nodes.append(x)
        weights.append(2.0 / ((1.0 - x * x) * slope * slope))
    return nodes, weights


def eigenvalue(a, parity, n):
    """Largest eigenvalue of half the integral operator on even or odd functions."""
    nodes, weights = gauss(n)
    x = [a * v for v in nodes]
    matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if j != i:
                k = a * weights[j] * e1(abs(x[i] - x[j])) / 2
                matrix[i][j] = k
                matrix[i][i] -= k
        matrix[i][i] += (2.0 - e2(a + x[i]) - e2(a - x[i])) / 2
    phi = [1.0 if parity > 0 else v for v in x]
    size = 0.0
    for _ in range(200):
        new = [sum(m * p for m, p in zip(row, phi)) for row in matrix]
        new = [(new[i] + parity * new[n - 1 - i]) / 2 for i in range(n)]
        old, size = size, max(abs(v) for v in new)
        phi = [v / size for v in new]
        if abs(size - old) < 1e-13:
            break
    return size


def critical(c, parity, n):
    """The size at which c times the eigenvalue is 1, by secants."""
    a, b = (0.7, 0.8) if parity > 0 else (1.9, 2.1)
    fa, fb = (c * eigenvalue(v, parity, n) - 1.0 for v in (a, b))
    while abs(b - a) > 1e-9:
        a, b, fa = b, b - fb * (b - a) / (fb - fa), fb
        fb = c * eigenvalue(b, parity, n) - 1.0
    return b


def main():
    cases = (("slab, nu = 3.24", 3.24, 1, 0.605055, 1.853722),
             ("slab, nu = 2.84", 2.84, 1, 0.73660355, 2.256751),
             ("sphere, nu = 2.84", 2.84, -1, 1.98534, 6.082547))
    for name, nu, parity, paths, cm in cases:
        c = (SIGMA_S + nu * SIGMA_F) / SIGMA_T
        coarse, fine = (critical(c, parity, n) for n in (40, 80))
        a = fine + (fine - coarse) / 7.0  # the error falls as 1 / n^3
        print(f"{name}: c = {c:.6f}, critical at {a:.6f} mean free paths, "
              f"{a / SIGMA_T:.5f} cm; published {paths} and {cm}")
        assert abs(a / SIGMA_T - cm) < 5e-6 * cm, name


main()
