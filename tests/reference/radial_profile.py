#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profile by radius, from the probes of runs.

    radial_profile.py TIME_S PROBES... [--axis z] [--front KEV=CM --wall CM]

PROBES are probes.csv of a run, or probes-<k>.csv of its replicas. Printed as CSV: position,
the distance from the origin (from an axis, with --axis), and means of the temperatures
and the energy density of radiation over probes at the same distance and over runs, with
standard errors, at the end of the step that ends at that time.

With --front instead: where matter falls through KEV along each ray of probes in each run,
seen from --wall, linear in T^4 between probes; the mean of all rays with its standard
error, against CM. The exit status is 1 if it is off by more than --max of its way.
"""
import argparse
import csv
import math
import sys

FIELDS = ["material_temperature", "radiation_temperature", "radiation_energy"]


def read(path, time, axis):
    """Values of each field by radius, at that time."""
    values = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if line[0] != "#"):
            if abs(float(row["time"]) - time) > 1e-6 * time:
                continue
            r = math.hypot(*(float(row[x]) for x in "xyz" if x != axis))
            values.setdefault(float(f"{r:.3g}"), []).append(
                [r] + [float(row[field]) for field in FIELDS])
    if not values:
        sys.exit(f"{path}: no step ends at {time:g} s")
    return values


def rays(path, time, axis):
    """Of each direction: places and temperatures of matter, from outside."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if line[0] != "#"):
            if abs(float(row["time"]) - time) > 1e-6 * time:
                continue
            place = [float(row[x]) for x in "xyz" if x != axis]
            r = math.hypot(*place)
            way = tuple(round(x / r, 1) for x in place)
            found.setdefault(way, []).append((r, float(row[FIELDS[0]])))
    if not found:
        sys.exit(f"{path}: no step ends at {time:g} s")
    return [sorted(ray, reverse=True) for ray in found.values()]


def fall(ray, level):
    """Where temperature falls through level."""
    for (r0, t0), (r1, t1) in zip(ray, ray[1:]):
        if t1 < level <= t0:
            return r0 + (t0 ** 4 - level ** 4) / (t0 ** 4 - t1 ** 4) * (r1 - r0)
    sys.exit(f"no front of {level:g} keV along a ray")


def front(options):
    """Print it; its deviation as a part of its way."""
    level, want = (float(x) for x in options.front.split("="))
    places = [fall(ray, level) for path in options.probes
              for ray in rays(path, options.time, options.axis)]
    n = len(places)
    mean = math.fsum(places) / n
    square = math.fsum((x - mean) ** 2 for x in places)
    error = math.sqrt(square / max(1, n - 1) / n)
    way = abs(options.wall - want)
    part = (want - mean) / (want - options.wall)
    print(f"{options.time:g} s: front at {mean:.6g} cm, {want:.6g} expected: "
          f"{-100 * part:+.2f} %, standard error {100 * error / way:.2f} %, "
          f"{n} rays")
    return abs(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("time", type=float)
    parser.add_argument("probes", nargs="+")
    parser.add_argument("--axis", choices="xyz")
    parser.add_argument("--front", metavar="KEV=CM")
    parser.add_argument("--wall", type=float, default=0.0)
    parser.add_argument("--max", type=float)
    options = parser.parse_args()
    if options.front:
        off = front(options)
        sys.exit(options.max is not None and off > options.max)
    runs = [read(path, options.time, options.axis) for path in options.probes]
    print(f"# time {options.time:g}, {len(runs)} runs")
    print("position," + ",".join(f"{f},{f}_error" for f in FIELDS))
    for r in sorted(runs[0]):
        rows = [row for run in runs for row in run[r]]
        n = len(rows)
        places, *columns = zip(*rows)
        cells = [f"{math.fsum(places) / n:.6g}"]
        for values in columns:
            mean = math.fsum(values) / n
            square = math.fsum((v - mean) ** 2 for v in values)
            cells += [f"{mean:.6g}",
                      f"{math.sqrt(square / max(1, n - 1) / n):.3g}"]
        print(",".join(cells))


main()
