#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Radiation that diffuses out of a scattering sphere into vacuum.

    cooling_sphere.py TIME_S [--sigma PER_CM] [--history HISTORY...]

prints x_cm (radius) and radiation_erg_cm3 as CSV: at the start a (1 keV)^4 everywhere
within 1 cm. By diffusion, D = c / (3 sigma), and with E = 0 at the extrapolated radius
R' = 1 + 0.7104 / sigma,

    E(r, t) = sum of b_n sin(k r) / r exp(-D k^2 t),  k = n pi / R',
    b_n = 2 / R' (sin(k) / k^2 - cos(k) / k).

With --history: the part of the energy that is left in runs at that time, and of the
sum; the exit status is 1 if they differ by more than 3 %. --check: the largest
difference to implicit finite volumes.
"""
import argparse
import csv
import math
import sys

A, C, EXTRAPOLATION = 1.3720172e14, 2.99792458e10, 0.7104


def terms(time, sigma):
    """Pairs k, b_n exp(-D k^2 t), in units of a (1 keV)^4."""
    outer = 1.0 + EXTRAPOLATION / sigma
    d = C / (3.0 * sigma)
    for n in range(1, 100000):
        k = n * math.pi / outer
        fall = math.exp(-d * k * k * time)
        if fall < 1e-14:
            return
        yield k, 2.0 / outer * (math.sin(k) / k ** 2 - math.cos(k) / k) * fall


def density(r, time, sigma):
    return math.fsum(b * (math.sin(k * r) / r if r else k)
                     for k, b in terms(time, sigma))


def left(time, sigma):
    """Of the energy within 1 cm."""
    return 3.0 * math.fsum(b * (math.sin(k) / k ** 2 - math.cos(k) / k)
                           for k, b in terms(time, sigma))


def volumes(time, sigma, n=400, steps=2000):
    """Means of n shells, by implicit steps."""
    width, dt = 1.0 / n, time / steps
    d = C / (3.0 * sigma)
    volume = [((i + 1) ** 3 - i ** 3) * width ** 3 / 3.0 for i in range(n)]
    face = [dt * d * (i * width) ** 2 / width for i in range(n)]
    face.append(dt * d / (width / 2.0 + EXTRAPOLATION / sigma))
    energy = [1.0] * n
    for _ in range(steps):
        diagonal = [v + face[i] + face[i + 1] for i, v in enumerate(volume)]
        right = [v * e for v, e in zip(volume, energy)]
        for i in range(1, n):
            q = face[i] / diagonal[i - 1]
            diagonal[i] -= q * face[i]
            right[i] += q * right[i - 1]
        energy[-1] = right[-1] / diagonal[-1]
        for i in range(n - 2, -1, -1):
            energy[i] = (right[i] + face[i + 1] * energy[i + 1]) / diagonal[i]
    return energy


def check(time, sigma):
    n = 400
    worst = max(abs(e / density((i + 0.5) / n, time, sigma) - 1.0)
                for i, e in enumerate(volumes(time, sigma, n)))
    print(f"largest difference to finite volumes {worst:.5f}")
    return worst > 5e-3


def history(path, time):
    """The part of the radiation that is left."""
    start = 0.0
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if line[0] != "#"):
            start += float(row["energy_initial"])
            if abs(float(row["time"]) - time) < 1e-6 * time:
                return float(row["energy_census"]) / start
    sys.exit(f"{path}: no step ends at {time:g} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("time", type=float)
    parser.add_argument("--sigma", type=float, default=1000.0)
    parser.add_argument("--points", type=int, default=50)
    parser.add_argument("--history", nargs="+")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        sys.exit(check(options.time, options.sigma))
    if options.history:
        known = left(options.time, options.sigma)
        parts = [history(path, options.time) for path in options.history]
        mean = sum(parts) / len(parts)
        print(f"left {mean:.5f}, by diffusion {known:.5f}: "
              f"{100 * (mean / known - 1):+.2f} %")
        sys.exit(abs(mean / known - 1.0) > 0.03)
    print(f"# {options.time:g} s, sigma {options.sigma:g} per cm, "
          f"{left(options.time, options.sigma):.5f} of the energy left, computed by "
          "cooling_sphere.py")
    print("x_cm,radiation_erg_cm3")
    for i in range(options.points):
        r = (i + 0.5) / options.points
        print(f"{r:.6g},{A * density(r, options.time, options.sigma):.6e}")


main()
