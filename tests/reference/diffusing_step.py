#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A step of radiation in a scattering medium, by diffusion.

    diffusing_step.py TIME_S [CELLS [STRETCH [SIGMA]]]

prints x_cm and the mean radiation energy density (erg/cm3) of each of CELLS cells of
0 .. 1 cm as CSV, STRETCH the ratio of successive widths. The energy density a (1 keV)^4 of x < 0.5 spreads as
a / 2 erfc((x - 0.5) / (2 sqrt(D t))) with D = c / (3 sigma), sigma 1000/cm unless
given; the integral of erfc gives the mean over a cell.
"""
import math
import sys

A, C = 1.3720172e14, 2.99792458e10


def integral(z):
    """Of erfc, from z to infinity."""
    return math.exp(-z * z) / math.sqrt(math.pi) - z * math.erfc(z)


def main():
    time = float(sys.argv[1])
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    stretch = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    sigma = float(sys.argv[4]) if len(sys.argv) > 4 else 1000.0
    width = 2.0 * math.sqrt(C / (3.0 * sigma) * time)
    widths = [stretch ** i for i in range(n)]
    edges = [math.fsum(widths[:i]) / math.fsum(widths) for i in range(n + 1)]
    print(f"# diffusing step at {time:g} s, computed by diffusing_step.py")
    print("x_cm,radiation_erg_cm3")
    for left, right in zip(edges, edges[1:]):
        lo, hi = (left - 0.5) / width, (right - 0.5) / width
        mean = (integral(lo) - integral(hi)) / (hi - lo)
        print(f"{(left + right) / 2.0:.6g},{A / 2.0 * mean:.6e}")


main()
