#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hot matter that fills an infinite medium with radiation, in groups.

    infinite_medium_groups.py [probes.csv ...]

prints t_s, material_kev and radiation_kev as CSV, of the ordinary differential
equations

    dE_g/dt = c sigma_g (b_g(T) a T^4 - E_g),   C dT/dt = -sum of dE_g/dt,

for the deck examples/problems/infinite-medium-groups.yaml: sigma_g = E^-2 at the
geometric middle of 12 groups from 0.1 to 30 keV (the first has all below, the last
all above), C = 5e14 erg/keV/cm3, T = 1 keV and no radiation at the start. b_g is
Planck's share of a group. With probes.csv of runs: their largest and mean error.
"""
import csv
import math
import sys

A, C = 1.3720172e14, 2.99792458e10
HEAT, N, LO, HI = 5e14, 12, 0.1, 30.0


def below(x):
    """Share of Planck's spectrum below x = E / T."""
    if x <= 0.0:
        return 0.0
    if x < 1.0:
        total = x ** 3 * (1 / 3 - x / 8 + x ** 2 / 60 - x ** 4 / 5040
                          + x ** 6 / 272160 - x ** 8 / 13305600)
        return 15.0 / math.pi ** 4 * total
    total = 0.0
    for k in range(1, 60):
        total += math.exp(-k * x) * (x ** 3 / k + 3 * x * x / k ** 2
                                     + 6 * x / k ** 3 + 6 / k ** 4)
    return 1.0 - 15.0 / math.pi ** 4 * total


EDGES = [LO * (HI / LO) ** (i / N) for i in range(N + 1)]
SIGMA = [1.0 / (EDGES[i] * EDGES[i + 1]) for i in range(N)]


def rates(energy, kev):
    at = [0.0] + [below(e / kev) for e in EDGES[1:-1]] + [1.0]
    black = A * kev ** 4
    return [C * SIGMA[g] * ((at[g + 1] - at[g]) * black - energy[g])
            for g in range(N)]


def solve(end):
    """Rows t, T, radiation temperature. Steps of Runge and Kutta's method: the
    thickest group has sigma = 60/cm, 2e-12 s."""
    energy, total, t, rows = [0.0] * N, HEAT * 1.0, 0.0, []

    def f(energy):
        return rates(energy, (total - sum(energy)) / HEAT)

    while True:
        rows.append((t, (total - sum(energy)) / HEAT, (sum(energy) / A) ** 0.25))
        if t >= end:
            return rows
        dt = min(2e-14 + 0.01 * t, 1e-12)
        k1 = f(energy)
        k2 = f([e + dt / 2 * k for e, k in zip(energy, k1)])
        k3 = f([e + dt / 2 * k for e, k in zip(energy, k2)])
        k4 = f([e + dt * k for e, k in zip(energy, k3)])
        energy = [e + dt / 6 * (p + 2 * q + 2 * r + s)
                  for e, p, q, r, s in zip(energy, k1, k2, k3, k4)]
        t += dt


def at(rows, t, column):
    lo, hi = 0, len(rows) - 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if rows[middle][0] <= t else (lo, middle)
    part = (t - rows[lo][0]) / (rows[hi][0] - rows[lo][0])
    return rows[lo][column] + part * (rows[hi][column] - rows[lo][column])


def compare(path, rows):
    errors = []
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if line[0] != "#"):
            t = float(row["time"])
            if t > 0.0:
                errors.append(abs(float(row["material_temperature"])
                                  / at(rows, t, 1) - 1.0))
    mean = sum(errors) / len(errors)
    print(f"{path}: {len(errors)} times, mean relative error {mean:.5f}, largest "
          f"{max(errors):.5f}")
    return mean


def main():
    rows = solve(5e-9)
    if len(sys.argv) > 1:
        sys.exit(max(compare(path, rows) for path in sys.argv[1:]) > 0.03)
    print("t_s,material_kev,radiation_kev")
    for k in range(41):
        t = 5e-9 * 10.0 ** ((k - 40) / 10.0)
        print(f"{t:.6e},{at(rows, t, 1):.6f},{at(rows, t, 2):.6f}")


main()
