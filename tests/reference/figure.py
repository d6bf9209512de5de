#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A figure of lines and points, as SVG.

    figure.py OUT.svg --x LABEL --y LABEL SERIES...

A SERIES is STYLE:FILE:XCOLUMN:YCOLUMN:LABEL, STYLE line (a reference) or points (a
run; with bars of three standard errors where there is a column YCOLUMN_error).
Series with the same LABEL have the same colour. Options: --log-x, --from X, --to X,
--unit-y Y (values are divided by it), --legend left (where a wave comes from the right),
--top Y (where the axis ends).
"""
import argparse
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 70, 20, 20, 50
COLOURS = ["#c23b22", "#1f5fa8", "#2e8b57", "#8a5fb0"]


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line[0] != "#"]
    names = lines[0].split(",")
    return [dict(zip(names, line.split(","))) for line in lines[1:]]


def ticks(lo, hi):
    step = 10.0 ** math.floor(math.log10((hi - lo) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (hi - lo) / (m * step) <= 6)
    first = math.ceil(lo / step - 1e-9)
    return [i * step for i in range(first, int(hi / step + 1e-9) + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--x", required=True)
    parser.add_argument("--y", required=True)
    parser.add_argument("--log-x", action="store_true")
    parser.add_argument("--unit-y", type=float, default=1.0)
    parser.add_argument("--from", dest="lo", type=float, default=-math.inf)
    parser.add_argument("--to", type=float, default=math.inf)
    parser.add_argument("--top", type=float)
    parser.add_argument("--legend", choices=["left", "right"], default="right")
    parser.add_argument("series", nargs="+")
    options = parser.parse_args()
    series = []
    for text in options.series:
        style, path, x, y, label = text.split(":")
        rows = [(float(r[x]), float(r[y]) / options.unit_y,
                 float(r.get(y + "_error", 0) or 0) / options.unit_y)
                for r in read(path)]
        rows = [r for r in rows if options.lo <= r[0] <= options.to
                and not (options.log_x and r[0] <= 0.0)]
        series.append((style, label, rows))
    scale = math.log10 if options.log_x else float
    xs = [scale(r[0]) for _, _, rows in series for r in rows]
    x_lo = min(xs) if options.log_x else min(0.0, min(xs))
    x_hi = max(xs)
    y_hi = options.top or 1.05 * max(r[1] for _, _, rows in series for r in rows)

    def px(x):
        return LEFT + (scale(x) - x_lo) / (x_hi - x_lo) * (WIDTH - LEFT - RIGHT)

    def py(y):
        return HEIGHT - BOTTOM - y / y_hi * (HEIGHT - BOTTOM - TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
           f'{HEIGHT}" font-family="sans-serif" font-size="14">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" '
           'fill="none" stroke="#444"/>']
    if options.log_x:
        marks = [10.0 ** i for i in range(math.ceil(x_lo - 1e-9),
                                          math.floor(x_hi + 1e-9) + 1)]
    else:
        marks = ticks(x_lo, x_hi)
    for x in marks:
        out.append(f'<path d="M{px(x):.1f} {HEIGHT - BOTTOM}v5" stroke="#444"/>'
                   f'<text x="{px(x):.1f}" y="{HEIGHT - BOTTOM + 20}" '
                   f'text-anchor="middle">{x:g}</text>')
    for y in ticks(0.0, y_hi):
        out.append(f'<path d="M{LEFT} {py(y):.1f}h-5" stroke="#444"/>'
                   f'<text x="{LEFT - 9}" y="{py(y) + 5:.1f}" '
                   f'text-anchor="end">{y:g}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" '
               f'text-anchor="middle">{options.x}</text>'
               f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) '
               f'rotate(-90)" text-anchor="middle">{options.y}</text>')
    labels = []
    for style, label, rows in series:
        if label not in labels:
            labels.append(label)
        colour = COLOURS[labels.index(label) % len(COLOURS)]
        if style == "line":
            path = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y, _ in rows)
            out.append(f'<polyline points="{path}" fill="none" '
                       f'stroke="{colour}" stroke-width="1.6"/>')
            continue
        for x, y, e in rows:
            if e > 0.0:
                out.append(f'<path d="M{px(x):.1f} {py(min(y + 3 * e, y_hi)):.1f}'
                           f'V{py(max(y - 3 * e, 0)):.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="2.6" '
                       f'fill="#fff" stroke="{colour}"/>')
    for i, label in enumerate(labels):
        y = TOP + 14 + 20 * i
        x, anchor = ((LEFT + 12, "start") if options.legend == "left" else
                     (WIDTH - RIGHT - 6, "end"))
        out.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" '
                   f'fill="{COLOURS[i % len(COLOURS)]}">{label}</text>')
    with open(options.out, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


main()
