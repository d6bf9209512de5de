#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A step of radiation in a scattering medium, by diffusion.

    diffusing_step.py TIME_S [CELLS]

prints x_cm and the mean radiation energy density (erg/cm3) of each of CELLS cells of
0 .. 1 cm as CSV. The energy density a (1 keV)^4 of x < 0.5 spreads as
a / 2 erfc((x - 0.5) / (2 sqrt(D t))) with D = c / (3 sigma), sigma = 1000/cm; the
integral of erfc gives the mean over a cell.
"""
import math
import sys

A, C, SIGMA = 1.3720172e14, 2.99792458e10, 1000.0


def integral(z):
    """Of erfc, from z to infinity."""
    return math.exp(-z * z) / math.sqrt(math.pi) - z * math.erfc(z)


def main():
    time = float(sys.argv[1])
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    width = 2.0 * math.sqrt(C / (3.0 * SIGMA) * time)
    print(f"# diffusing step at {time:g} s, computed by diffusing_step.py")
    print("x_cm,radiation_erg_cm3")
    for i in range(n):
        lo, hi = (i / n - 0.5) / width, ((i + 1) / n - 0.5) / width
        mean = (integral(lo) - integral(hi)) / (hi - lo)
        print(f"{(i + 0.5) / n:.6g},{A / 2.0 * mean:.6e}")


main()
