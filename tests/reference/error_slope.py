#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the error of a run falls with its number of packets.

    error_slope.py COLUMN PACKETS:FILE... [--reference CSV --x X --y Y --to X_MAX]

FILEs are profiles or probes.csv of `storm run --replicas`, with standard errors. The
error of one run is the root mean square, over places and replicas, of its relative
difference to the reference (linear between the places of the file), or to the mean
if there is none. Of probes the last step is taken. Printed: the error for each number
of packets, and the slope of its logarithm by least squares; exit status 1 if that is
not -0.5 within --within (0.05).
"""
import argparse
import math
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    replicas = int(lines[0].split()[-1]) if " replicas " in lines[0] else 1
    lines = [line for line in lines if not line.startswith("#")]
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","))) for line in lines[1:]]
    if "step" in names:
        rows = [row for row in rows if row["step"] == rows[-1]["step"]]
    return replicas, rows


def interpolate(points, x):
    for (a, u), (b, v) in zip(points, points[1:]):
        if x <= b:
            return u + (v - u) * max(0.0, (x - a) / (b - a))
    return points[-1][1]


def error_of(path, options, reference):
    replicas, rows = read(path)
    if replicas < 2:
        sys.exit(f"{path}: not of several replicas")
    means = [float(row[options.column]) for row in rows]
    variances = [(replicas - 1) * float(row[options.column + "_error"]) ** 2
                 for row in rows]
    if reference is None: # about the mean, which is fitted
        squares = [v * replicas / (replicas - 1) / m ** 2
                   for m, v in zip(means, variances) if m > 0.0]
    else:
        xs = [float(row["position"]) for row in rows]
        squares = []
        for x, known in reference:
            if x <= options.to and known > 0.0:
                mean = interpolate(list(zip(xs, means)), x)
                variance = interpolate(list(zip(xs, variances)), x)
                squares.append((variance + (mean - known) ** 2) / known ** 2)
    return math.sqrt(sum(squares) / len(squares))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("column")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--reference")
    parser.add_argument("--x", default="x_cm")
    parser.add_argument("--y")
    parser.add_argument("--to", type=float, default=math.inf)
    parser.add_argument("--within", type=float, default=0.05)
    options = parser.parse_args()
    reference = None
    if options.reference:
        reference = [(float(row[options.x]), float(row[options.y]))
                     for row in read(options.reference)[1]]
    logs = []
    for run in options.runs:
        packets, path = run.split(":", 1)
        error = error_of(path, options, reference)
        print(f"{packets} packets: error {error:.5f}")
        logs.append((math.log(float(packets)), math.log(error)))
    n = len(logs)
    mx, my = (sum(v) / n for v in zip(*logs))
    slope = (sum((x - mx) * (y - my) for x, y in logs)
             / sum((x - mx) ** 2 for x, y in logs))
    print(f"slope {slope:.3f}")
    sys.exit(abs(slope + 0.5) > options.within)


main()
