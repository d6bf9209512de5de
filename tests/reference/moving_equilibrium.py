#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Radiation in equilibrium with matter in uniform motion.

    moving_equilibrium.py BX BY BZ [--spectrum] [profile.csv ...]

B = (BX, BY, BZ) is the velocity over c. With c = a = T = 1 the energy density in the
frame of the mesh is gamma^2 (1 + B^2 / 3), the flux 4/3 gamma^2 B, and the energy
between E1 and E2

    (1/2) integral of D^-4 (P(D E2) - P(D E1)) dmu,   D = gamma (1 - mu B),

over mu from -1 to 1, P(x) being the share of Planck's spectrum below x. Prints these
for the groups of examples/problems/moving-equilibrium.yaml; with profiles of runs with
replicas, what they have with standard errors, or with --spectrum middle_kev, spectrum
(energy per keV, of the groups that are not the first or the last), spectrum_run and
spectrum_run_error. The exit status is 1 if energy, flux or temperature is off by more
than four standard errors, the mean square of those of groups is above 2, or an error
is above 2 % (of a group 10 %).
"""
import csv
import math
import sys

N, LO, HI = 20, 0.3, 15.0
EDGES = [LO * (HI / LO) ** (i / N) for i in range(N + 1)]


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


def group(beta, lo, hi):
    """Its energy, by Simpson's rule."""
    n, total = 400, 0.0
    gamma = 1.0 / math.sqrt(1.0 - beta * beta)
    for i in range(n + 1):
        doppler = gamma * (1.0 - (2.0 * i / n - 1.0) * beta)
        weight = 1 if i in (0, n) else 4 if i % 2 else 2
        up = below(doppler * hi) if hi < math.inf else 1.0
        total += weight * (up - below(doppler * lo)) / doppler ** 4
    return total / (3.0 * n)


def solve(velocity):
    """Names of columns of a profile, and what is right there."""
    square = sum(b * b for b in velocity)
    gamma2, beta = 1.0 / (1.0 - square), math.sqrt(square)
    right = {"radiation_energy": gamma2 * (1.0 + square / 3.0),
             "material_temperature": 1.0}
    for name, b in zip("xyz", velocity):
        right["flux_" + name] = 4.0 / 3.0 * gamma2 * b
    edges = [0.0] + EDGES[1:N] + [math.inf]
    for g in range(N):
        right[f"radiation_energy_group_{g}"] = group(beta, edges[g],
                                                     edges[g + 1])
    return right


def compare(path, right, spectrum):
    with open(path, encoding="utf-8") as file:
        row = next(csv.DictReader(line for line in file if line[0] != "#"))
    good, worst, squares = True, 0.0, []
    for name, value in right.items():
        if name not in row:
            continue
        found, error = float(row[name]), float(row[name + "_error"])
        off = (found - value) / error
        if "group" in name:
            squares.append(off * off)
            good = good and error <= 0.1 * value
        else:
            worst = max(worst, abs(off))
            good = good and error <= 0.02 * right["radiation_energy"]
        if not spectrum:
            print(f"{name},{value:.6f},{found:.6f},{error:.6f},{off:+.1f}")
    for g in range(1, N - 1) if spectrum else ():
        name, width = f"radiation_energy_group_{g}", EDGES[g + 1] - EDGES[g]
        print(f"{math.sqrt(EDGES[g] * EDGES[g + 1]):.5f},{right[name] / width:.6f},"
              f"{float(row[name]) / width:.6f},"
              f"{float(row[name + '_error']) / width:.6f}")
    mean = math.fsum(squares) / max(len(squares), 1)
    print(f"{path}: at most {worst:.1f} standard errors off; groups: mean square "
          f"{mean:.2f}, at most {math.sqrt(max(squares, default=0.0)):.1f}",
          file=sys.stderr)
    return good and worst <= 4.0 and mean <= 2.0


def main():
    arguments = [a for a in sys.argv[1:] if a != "--spectrum"]
    right = solve([float(b) for b in arguments[:3]])
    spectrum = "--spectrum" in sys.argv
    if len(arguments) > 3:
        print("middle_kev,spectrum,spectrum_run,spectrum_run_error" if spectrum
              else "column,right,found,error,standard_errors")
        sys.exit(not all([compare(path, right, spectrum)
                          for path in arguments[3:]]))
    print("column,right")
    for name, value in right.items():
        print(f"{name},{value:.6f}")


main()
