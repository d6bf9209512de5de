#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Profile by radius, from the probes of runs.

    radial_profile.py TIME_S PROBES... [--axis z]

PROBES are probes.csv of a run, or probes-<k>.csv of its replicas. Printed as CSV: position,
the distance from the origin (from an axis, with --axis), and means of the temperatures
and the energy density of radiation over probes at the same distance and over runs, with
standard errors, at the end of the step that ends at that time.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("time", type=float)
    parser.add_argument("probes", nargs="+")
    parser.add_argument("--axis", choices="xyz")
    options = parser.parse_args()
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
