#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Crooked pipe: temperatures of five points over time against two published
sets of curves.

  crooked_pipe.py RUN [RUN...] [--points] [--reference FILE] [--svg FILE]
      [--max E]

A RUN is a directory with profile-<step>.csv whose columns
material_temperature_p1 .. _p5 are the points (examples/problems/
crooked-pipe.yaml). The published curves differ from each other by up to 40 %,
and are digitised to 0.01 keV: the error beyond them is the distance to the
range between both, widened by 0.01 keV. Points colder than 0.06 keV in both, at
0.05 keV in the beginning, are not counted. With --max the exit status is 1 if
the mean of that error, over the first run, is above it. --points: the values of
each point and time, of the runs and as published, as a table."""
import argparse
import glob
import math
import os
import sys

POINTS = 5
ACCURACY, COLD = 0.01, 0.06
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")


def numbers(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    names = next(line for line in lines if not line.startswith("#")).split(",")
    time = [line for line in lines if line.startswith("# time")]
    rows = [[float(x) for x in line.split(",")] for line in lines
            if line and not line.startswith("#") and line[0] not in "pt"]
    return names, rows, float(time[0].split()[2]) if time else None


def history(run):
    """Times in ns, and the temperatures of the points."""
    out = []
    for path in glob.glob(os.path.join(run, "profile-*.csv")):
        names, rows, time = numbers(path)
        at = [names.index(f"material_temperature_p{i + 1}")
              for i in range(POINTS)]
        out.append((time * 1e9, [rows[0][i] for i in at]))
    return sorted(out)


def at_time(curve, t):
    for (t0, a), (t1, b) in zip(curve, curve[1:]):
        if t0 <= t <= t1 * (1.0 + 1e-9):
            part = (t - t0) / (t1 - t0)
            return [x + part * (y - x) for x, y in zip(a, b)]
    return None


def report(run, reference):
    curve, beyond, plain = history(run), [], [[], []]
    for row in reference:
        values = at_time(curve, row[0])
        if values is None:
            continue
        for i, value in enumerate(values):
            both = (row[1 + i], row[1 + POINTS + i])
            if max(both) < COLD:
                continue
            out = max(min(both) - ACCURACY - value,
                      value - max(both) - ACCURACY, 0.0)
            beyond.append(out / (0.5 * sum(both)))
            for k in range(2):
                plain[k].append(abs(value - both[k]) / both[k])
    if not beyond:
        sys.exit(f"{run}: no profile at a time of the reference")
    mean = [math.fsum(x) / len(x) for x in (beyond, *plain)]
    print(f"{run}: {len(beyond)} values; mean error beyond the published curves "
          f"{mean[0]:.4f}; against IMC {mean[1]:.4f}, against Gentile "
          f"{mean[2]:.4f}")
    return mean[0]


def table(names, runs, reference):
    """Of each point and time: the runs, then both published values (keV)."""
    curves = [history(run) for run in runs]
    print("| point | ns | " + " | ".join(names) + " | Gentile | IMC, 2022 |")
    print("|---" * (len(names) + 4) + "|")
    for i in range(POINTS):
        for row in reference:
            values = [at_time(curve, row[0]) for curve in curves]
            both = (row[1 + POINTS + i], row[1 + i])
            if max(both) < COLD or not any(values):
                continue
            cells = [f"{v[i]:.3f}" if v else "" for v in values]
            print(f"| {i + 1} | {row[0]:g} | " + " | ".join(cells)
                  + f" | {both[0]:.2f} | {both[1]:.2f} |")


def line(points, x, y, style):
    path = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in points)
    return f'<polyline fill="none" points="{path}" {style}/>'


def svg(runs, reference, path):
    """Runs as lines, the first one thick; published curves as symbols."""
    def x(t):
        return 70 + 500 * math.log10(t / 0.05) / math.log10(2000 / 0.05)

    def y(v):
        return 330 - 300 * v / 0.5
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="390" '
           'font-family="sans-serif" font-size="13">',
           '<rect width="760" height="390" fill="white"/>',
           '<rect x="70" y="30" width="500" height="300" fill="none" '
           'stroke="black"/>']
    for t in (0.1, 1, 10, 100, 1000):
        out.append(f'<text x="{x(t):.1f}" y="348" text-anchor="middle">{t:g}'
                   f'</text><path stroke="#ddd" d="M{x(t):.1f} 30V330"/>')
    for v in (0, 0.1, 0.2, 0.3, 0.4, 0.5):
        out.append(f'<text x="62" y="{y(v) + 4:.1f}" text-anchor="end">{v:g}'
                   f'</text><path stroke="#ddd" d="M70 {y(v):.1f}H570"/>')
    out.append('<text x="320" y="372" text-anchor="middle">time (ns)</text>')
    out.append('<text x="20" y="180" text-anchor="middle" '
               'transform="rotate(-90 20 180)">material temperature (keV)'
               '</text>')
    for i in range(POINTS):
        c = COLOURS[i]
        for n, (_, curve) in enumerate(runs):
            dash = ("", "6 3", "2 3")[min(n, 2)]
            out.append(line([(t, v[i]) for t, v in curve if t > 0.05], x, y,
                            f'stroke="{c}" stroke-width="{2 if n == 0 else 1.2}"'
                            f' stroke-dasharray="{dash}"'))
        for row in reference:
            a, b = x(row[0]), y(row[1 + i])
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="none" '
                       f'stroke="{c}"/>')
            b = y(row[1 + POINTS + i])
            out.append(f'<path stroke="{c}" d="M{a - 3:.1f} {b - 3:.1f}l6 6m0 '
                       f'-6l-6 6"/>')
        out.append(f'<text x="585" y="{45 + 18 * i}" fill="{c}">point {i + 1}'
                   f'</text>')
    for n, (name, _) in enumerate(runs):
        dash = ("", "6 3", "2 3")[min(n, 2)]
        out.append(f'<path stroke="black" stroke-dasharray="{dash}" '
                   f'd="M585 {151 + 18 * n}h24"/><text x="615" '
                   f'y="{155 + 18 * n}">{name}</text>')
    out.append('<circle cx="597" cy="222" r="3" fill="none" stroke="black"/>'
               '<text x="615" y="226">IMC, 2022</text>'
               '<path stroke="black" d="M594 237l6 6m0 -6l-6 6"/>'
               '<text x="615" y="244">Gentile, 2001</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--names", default="", help="for the legend")
    parser.add_argument("--reference",
                        default=os.path.join(here, "crooked_pipe.csv"))
    parser.add_argument("--points", action="store_true")
    parser.add_argument("--svg")
    parser.add_argument("--max", type=float)
    options = parser.parse_args()
    reference = numbers(options.reference)[1]
    errors = [report(run, reference) for run in options.runs]
    names = options.names.split(",") if options.names else options.runs
    if options.points:
        table(names, options.runs, reference)
    if options.svg:
        svg([(name, history(run)) for name, run in zip(names, options.runs)],
            reference, options.svg)
    sys.exit(options.max is not None and errors[0] > options.max)


main()
