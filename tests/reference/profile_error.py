#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Error of profiles against a reference.

  profile_error.py REFERENCE PROFILE... [options]

REFERENCE is a CSV file with column names; lines that begin with # are skipped.
PROFILEs are profile-<step>.csv of runs with different seeds (one is enough):
their mean is compared at the places of the reference, linear between the
middles of bins, and their standard error follows from their spread. A single
one of `storm run --replicas` has its standard errors in columns of its own; those
of such a REFERENCE, another run, are counted as well. --shift X: the places of the
PROFILEs less X, in a box of length --period that begins at 0.

Printed, and with --json as one object: the mean relative error; the same beyond
three standard errors and the accuracy of the reference; the largest of both and
where. With --max the exit status is 1 if the second is above it.
"""
import argparse
import json
import math
import sys


def read(path):
    """Column names, and rows of numbers."""
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line and not line.startswith("#")]
    names = [name.strip() for name in lines[0].split(",")]
    return names, [[float(x) for x in line.split(",")] for line in lines[1:]]


def column(table, name, path):
    names, rows = table
    if name not in names:
        sys.exit(f"{path}: no column '{name}'; there are: {', '.join(names)}")
    return [row[names.index(name)] for row in rows]


def shifted(table, options):
    """Rows at their new places, in order."""
    names, rows = table
    if options.period is None:
        return table
    i = names.index("position")
    rows = [row[:i] + [(row[i] - options.shift) % options.period] + row[i + 1:]
            for row in rows]
    return names, sorted(rows, key=lambda row: row[i])


def interpolate(xs, ys, x):
    """Linear between points, constant beyond the first and the last."""
    if x <= xs[0]:
        return ys[0]
    for i in range(1, len(xs)):
        if x <= xs[i]:
            part = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
            return ys[i - 1] + part * (ys[i] - ys[i - 1])
    return ys[-1]


def mean_and_error(values):
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, 0.0
    square = math.fsum((v - mean) ** 2 for v in values)
    return mean, math.sqrt(square / (n - 1) / n)


def compare(options):
    """For each place of the reference: place, value, mean, standard error."""
    table = read(options.reference)
    places = column(table, options.x, options.reference)
    values = column(table, options.y, options.reference)
    runs = []
    for path in options.profiles:
        profile = shifted(read(path), options)
        runs.append((column(profile, "position", path),
                     column(profile, options.column, path)))
    errors = None
    if len(runs) == 1 and options.column + "_error" in profile[0]:
        errors = column(profile, options.column + "_error", path)
    own = [0.0] * len(places)
    if options.y + "_error" in table[0]:
        own = column(table, options.y + "_error", options.reference)
    rows = []
    for x, y, y_error in zip(places, values, own):
        if options.lo <= x <= options.hi and y != 0.0:
            mean, error = mean_and_error(
                [interpolate(xs, ys, x) for xs, ys in runs])
            if errors is not None:
                error = interpolate(runs[0][0], errors, x)
            rows.append((x, y, mean, math.hypot(error, y_error)))
    if not rows:
        sys.exit(f"{options.reference}: no place within "
                 f"{options.lo} .. {options.hi}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("profiles", nargs="+")
    parser.add_argument("--x", default="x_cm", help="its column of places")
    parser.add_argument("--y", required=True, help="its column of values")
    parser.add_argument("--column", default="material_temperature",
                        help="of the profiles")
    parser.add_argument("--from", dest="lo", type=float, default=-math.inf)
    parser.add_argument("--to", dest="hi", type=float, default=math.inf)
    parser.add_argument("--accuracy", type=float, default=0.0,
                        help="of the reference, in its unit")
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--period", type=float)
    parser.add_argument("--max", type=float, help="of the error beyond noise")
    parser.add_argument("--rows", action="store_true", help="print all places")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = compare(options)
    plain = [abs(m - y) / abs(y) for _, y, m, _ in rows]
    beyond = [max(0.0, abs(m - y) - 3.0 * e - options.accuracy) / abs(y)
              for _, y, m, e in rows]
    result = {
        "places": len(rows), "runs": len(options.profiles),
        "error": math.fsum(plain) / len(plain), "max_error": max(plain),
        "max_at": rows[plain.index(max(plain))][0],
        "standard_error": math.fsum(e / abs(y) for _, y, _, e in rows)
                          / len(rows),
        "beyond_noise": math.fsum(beyond) / len(beyond),
    }
    if options.rows:
        for x, y, m, e in rows:
            print(f"{x:12.6g} {y:12.6g} {m:12.6g} +- {e:.2g}")
    if options.json:
        print(json.dumps(result))
    else:
        print("mean relative error %(error).4f, beyond noise "
              "%(beyond_noise).4f; largest %(max_error).4f at %(max_at)g; "
              "standard error %(standard_error).4f; %(places)d places, "
              "%(runs)d runs" % result)
    sys.exit(options.max is not None and result["beyond_noise"] > options.max)


main()
