#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Photons and electrons that exchange energy by Compton scattering alone.

    compton_equilibrium.py [probes.csv ...]

prints t_s, material_kev and mean_kev (energy of photons, over three) as CSV, for the deck
examples/problems/compton-equilibrium.yaml: the equation of Kompaneets (Sov. Phys. JETP 4
(1957) 730) without stimulated scattering,

    dN/dt = n sigma_T c / mc^2  d/dE (E^2 (T dN/dE + (1 - 2 T / E) N)),

for the number N of photons per energy, and what they gain matter loses. It neglects terms
of the square of T / mc^2: 1 % of the rate at 2 keV. At the end N is Wien's spectrum, and

    3 n T + C T = U0,   n = a T0^3 / 2.701,

because the number n of photons stays. With probes.csv of runs: the mean error of the
temperature of matter, and of its mean over the last fifth against that balance; exit status
1 if they are above 2 % and 1 %.
"""
import csv
import math
import sys

A, C, REST_KEV, THOMSON = 1.3720172e14, 2.99792458e10, 510.99895, 6.6524587321e-25
ELECTRONS, HEAT, MATTER, RADIATION, END = 6.02e24, 2e13, 2.0, 0.5, 1e-8
MEAN = 2.7011780329  # of Planck's spectrum, E / T


def final():
    number = A * RADIATION ** 3 / MEAN
    return (A * RADIATION ** 4 + HEAT * MATTER) / (3.0 * number + HEAT)


def step(edges, n, kev, dt):
    """One implicit step of the numbers in bins, by fluxes that vanish for Wien's
    spectrum and keep the sum."""
    m = len(n)
    width = [b - a for a, b in zip(edges, edges[1:])]
    middle = [math.sqrt(a * b) for a, b in zip(edges, edges[1:])]
    lower, diagonal, upper = [0.0] * m, [1.0] * m, [0.0] * m
    for i in range(m - 1):
        e, f = middle[i], middle[i + 1]
        root = f / e * math.exp((e - f) / (2.0 * kev))
        rate = (dt * ELECTRONS * THOMSON * C / REST_KEV * edges[i + 1] ** 2 * kev
                / (f - e))
        out, back = rate * root / width[i], rate / root / width[i + 1]
        diagonal[i] += out
        upper[i] -= back
        lower[i + 1] -= out
        diagonal[i + 1] += back
    for i in range(1, m):
        part = lower[i] / diagonal[i - 1]
        diagonal[i] -= part * upper[i - 1]
        n[i] -= part * n[i - 1]
    n[-1] /= diagonal[-1]
    for i in range(m - 2, -1, -1):
        n[i] = (n[i] - upper[i] * n[i + 1]) / diagonal[i]
    return sum(a * b for a, b in zip(n, middle))


def solve(steps):
    """Rows t, T, mean energy over three."""
    m = 400
    edges = [2e-3 * (60.0 / 2e-3) ** (i / m) for i in range(m + 1)]
    middle = [math.sqrt(a * b) for a, b in zip(edges, edges[1:])]
    n = [(b - a) * e * e / math.expm1(e / RADIATION)
         for a, b, e in zip(edges, edges[1:], middle)]
    scale = A * RADIATION ** 3 / MEAN / sum(n)
    n = [scale * x for x in n]
    number, energy = sum(n), sum(x * e for x, e in zip(n, middle))
    kev, rows = MATTER, [(0.0, MATTER, energy / number / 3.0)]
    for i in range(steps):
        after = step(edges, n, kev, END / steps)
        kev -= (after - energy) / HEAT
        energy = after
        rows.append((END * (i + 1) / steps, kev, energy / number / 3.0))
    return rows


def at(rows, t, column):
    place = t / END * (len(rows) - 1)
    k = min(int(place), len(rows) - 2)
    return rows[k][column] + (place - k) * (rows[k + 1][column] - rows[k][column])


def compare(path, rows):
    """The mean of all probes at each time."""
    sums = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if line[0] != "#"):
            sums.setdefault(float(row["time"]), []).append(
                float(row["material_temperature"]))
    means = {t: sum(v) / len(v) for t, v in sums.items()}
    errors = [abs(v / at(rows, t, 1) - 1.0) for t, v in means.items() if t > 0.0]
    last = [v for t, v in means.items() if t > 0.8 * END]
    end = sum(last) / len(last) / final() - 1.0
    mean = sum(errors) / len(errors)
    print(f"{path}: {len(errors)} times, mean relative error {mean:.5f}, largest "
          f"{max(errors):.5f}; at the end {end:+.5f} off {final():.5f} keV")
    return mean > 0.02 or abs(end) > 0.01


def main():
    rows = solve(1000)
    if len(sys.argv) > 1:
        sys.exit(max(compare(path, rows) for path in sys.argv[1:]))
    print("t_s,material_kev,mean_kev")
    for t, material, mean in rows[::10]:
        print(f"{t:.6e},{material:.6f},{mean:.6f}")


main()
