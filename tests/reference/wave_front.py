#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Places of the front of a wave in profiles of runs.

    wave_front.py LEVEL PROFILE=FRONT... [--from-far WALL] [--max PART]

LEVEL is the temperature of matter (keV) that the front has; FRONT its place (cm), with
which that of PROFILE (profile-<step>.csv) is compared: seen from the heated side, matter
falls through LEVEL between two bins, linear in T^4 in between. --from-far: the heated
side is at WALL, beyond all positions. With --max the exit status is 1 if a front is off by more
than that part of its way.
"""
import argparse
import sys


def read(path):
    """Rows of position and temperature."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if not line.startswith("#")]
    names = lines[0].split(",")
    x, y = names.index("position"), names.index("material_temperature")
    rows = [line.split(",") for line in lines[1:]]
    return [(float(row[x]), float(row[y])) for row in rows]


def front(rows, level):
    """Where temperature falls through level for the first time; or None."""
    for (x0, t0), (x1, t1) in zip(rows, rows[1:]):
        if t1 < level <= t0:
            part = (t0 ** 4 - level ** 4) / (t0 ** 4 - t1 ** 4)
            return x0 + part * (x1 - x0)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("level", type=float)
    parser.add_argument("profiles", nargs="+", metavar="PROFILE=FRONT")
    parser.add_argument("--from-far", type=float, metavar="WALL",
                        help="the wave comes from this place")
    parser.add_argument("--max", type=float)
    options = parser.parse_args()
    worst = 0.0
    for text in options.profiles:
        path, want = text.rsplit("=", 1)
        rows, want = read(path), float(want)
        wall = 0.0
        if options.from_far is not None:
            rows, wall = rows[::-1], options.from_far
        found = front(rows, options.level)
        if found is None:
            print(f"{path}: no front of {options.level:g} keV")
            worst = float("inf")
            continue
        part = (found - want) / (want - wall)
        worst = max(worst, abs(part))
        print(f"{path}: front at {found:.6g} cm, {want:.6g} expected: "
              f"{100 * part:+.2f} %")
    sys.exit(options.max is not None and worst > options.max)


main()
