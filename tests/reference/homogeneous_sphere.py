#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Energy density of a homogeneous sphere that absorbs and emits, in vacuum.

    homogeneous_sphere.py PROBES.csv...

PROBES.csv are of runs of examples/problems/homogeneous-sphere.yaml with different
seeds. A ray that has passed a length s of the sphere has the intensity
B (1 - exp(-kappa s)); half its integral over the cosine of direction and radius is
the energy density in units of a T^4. Printed: radius, formula, mean of the runs at
the last step over all probes of that radius, standard error; then the mean error,
and what of it is beyond three standard errors (exit status 1 if above 3 %).
"""
import csv
import math
import sys

A, KAPPA, RADIUS = 1.3720172e14, 4.0, 1.0


def chord(r, mu):
    root = RADIUS ** 2 - r * r * (1.0 - mu * mu)
    if root <= 0.0 or (r > RADIUS and mu < 0.0):
        return 0.0
    return 2.0 * math.sqrt(root) if r > RADIUS else r * mu + math.sqrt(root)


def density(r, n=20000):
    return sum(-math.expm1(-KAPPA * chord(r, (2 * i + 1) / n - 1.0))
               for i in range(n)) / n


def read(path):
    """Values of the last step by radius, in units of a T^4 of 1 keV."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    last = rows[-1]["step"]
    values = {}
    for row in rows:
        if row["step"] == last:
            r = math.dist([float(row[x]) for x in "xyz"], [0.0, 0.0, 0.0])
            values.setdefault(round(r, 6), []).append(
                float(row["radiation_energy"]) / A)
    return values


def main():
    runs = [read(path) for path in sys.argv[1:]]
    errors, beyond = [], []
    for r in sorted(runs[0]):
        values = [v for run in runs for v in run[r]]
        n, known = len(values), density(r)
        mean = sum(values) / n
        error = math.sqrt(sum((v - mean) ** 2 for v in values)
                          / max(1, n - 1) / n)
        errors.append(abs(mean / known - 1.0))
        beyond.append(max(0.0, abs(mean - known) - 3.0 * error) / known)
        print(f"r {r:4.2f}  formula {known:.5f}  {mean:.5f} +- {error:.5f}")
    print(f"mean relative error {sum(errors) / len(errors):.4f}, beyond noise "
          f"{sum(beyond) / len(beyond):.4f}; largest {max(errors):.4f}")
    sys.exit(sum(beyond) / len(beyond) > 0.03)


main()
