#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shadow of a plate: energy density behind it, by the angle under which the
lamp is seen. Prints the CSV that profiles are compared with.

A lamp, x = 0, 0 < y < 0.2, infinite in z, mirrored at y = 0, emits as a black body
of 1 keV into vacuum, 0 < x < 2; a black plate fills 0.4 < x < 0.6, y < 0.3. At a
point that sees the lamp under the angle w in the plane, E = a T^4 w / (2 pi).
Averaged over x and over cells of y, as profiles are."""
import math

LAMP, LEFT, RIGHT, TOP, LENGTH, CELLS, FINE = 0.2, 0.4, 0.6, 0.3, 2.0, 40, 400
A = 1.3720172e14


def angle(x, y):
    """Of the part of the lamp that is seen from (x, y)."""
    def toward(lamp):
        return math.atan2(lamp - y, x)
    lo, hi = -LAMP, LAMP
    if x <= LEFT:
        return toward(hi) - toward(lo)
    if x < RIGHT: # beside the plate
        edge = y + (TOP - y) * x / (x - LEFT)
        lo = min(max(lo, edge), hi)
        return toward(hi) - toward(lo)
    marks = [y + (t - y) * x / (x - c)
             for c in (LEFT, RIGHT) for t in (-TOP, TOP)]
    lower, upper = max(lo, min(marks)), min(hi, max(marks))
    seen = toward(hi) - toward(lo)
    return seen - (toward(upper) - toward(lower) if upper > lower else 0.0)


def mean(j):
    """Over the cells of layer j that are not in the plate."""
    total, n = 0.0, 0
    for k in range(10):
        y = (j + (k + 0.5) / 10.0) / CELLS
        for i in range(FINE):
            x = (i + 0.5) * LENGTH / FINE
            if not (LEFT < x < RIGHT and y < TOP):
                total += angle(x, y)
                n += 1
    return total / n / (2.0 * math.pi)


print("# Shadow of a plate: computed by tests/reference/shadow.py")
print("position,radiation_energy")
for j in range(CELLS):
    print(f"{(j + 0.5) / CELLS:.6g},{A * mean(j):.8g}")
