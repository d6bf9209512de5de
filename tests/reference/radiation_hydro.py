#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of examples/host_moving.c, as SVG.

    radiation_hydro.py slices OUT.svg CHECKPOINT...
    radiation_hydro.py balance OUT.svg TABLE

slices: density, temperature and radiation in the plane z = 5 cm, a column for each
checkpoint. balance: energies and momenta over time, and how well they close, from what
the example prints.
"""
import math
import struct
import sys

BOX, PLANE = 10.0, 5.0
HEAT = 2.877e15
VIRIDIS = ["440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962",
           "addc30", "fde725"]
COLOURS = ["#1f5fa8", "#c23b22", "#2e8b57", "#8a5fb0"]


def read(path):
    """Time, and for each cell: generator, density, temperature, radiation."""
    with open(path, "rb") as file:
        data = file.read()
    # Sizes, what the host has once, accounts, rows: examples/checkpoint.h.
    n_cells, _, head, row_bytes, _, _, state_bytes, accounts = struct.unpack_from(
        "<8Q", data, 0)
    time_s = struct.unpack_from("<Qd", data, 64)[1]
    at, width = 64 + head + accounts, row_bytes + state_bytes
    cells = []
    for i in range(n_cells):
        row = struct.unpack_from(f"<{width // 8}d", data, at + i * width)
        x, q, state = row[:3], row[3:8], row[8:]
        heat = q[4] - 0.5 * (q[1] ** 2 + q[2] ** 2 + q[3] ** 2) / q[0]
        # The density is the one that the last step of radiation had.
        cells.append((x, state[4], heat / q[0] / HEAT, state[2]))
    return time_s, cells


def clip(polygon, a, b, c):
    """The part of a polygon where a x + b y <= c."""
    out = []
    for i, p in enumerate(polygon):
        q = polygon[(i + 1) % len(polygon)]
        fp, fq = a * p[0] + b * p[1] - c, a * q[0] + b * q[1] - c
        if fp <= 0.0:
            out.append(p)
        if fp * fq < 0.0:
            t = fp / (fp - fq)
            out.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
    return out


def section(cells):
    """What the plane cuts of each cell: index and polygon."""
    n_side = max(1, round(len(cells) ** (1 / 3) / 1.5))
    size = BOX / n_side
    boxes = {}
    for i, (x, *_) in enumerate(cells):
        boxes.setdefault(tuple(int(v / size) for v in x), []).append(i)

    def near(x, ring):
        at = [int(v / size) for v in x]
        for i in range(at[0] - ring, at[0] + ring + 1):
            for j in range(at[1] - ring, at[1] + ring + 1):
                for k in range(at[2] - ring, at[2] + ring + 1):
                    if max(abs(i - at[0]), abs(j - at[1]), abs(k - at[2])) == ring:
                        yield from boxes.get((i, j, k), ())

    for i, (x, *_) in enumerate(cells):
        if abs(x[2] - PLANE) > 3.0 * size:
            continue
        polygon = [(0.0, 0.0), (BOX, 0.0), (BOX, BOX), (0.0, BOX)]
        for ring in range(n_side):
            # No generator further away than twice the furthest corner matters.
            far = 2.0 * max((math.dist((*p, PLANE), x) for p in polygon), default=0.0)
            if not polygon or (ring - 1) * size > far:
                break
            for j in near(x, ring):
                if j == i or not polygon:
                    continue
                y = cells[j][0]
                d = [y[k] - x[k] for k in range(3)]
                c = 0.5 * sum(y[k] ** 2 - x[k] ** 2 for k in range(3)) - d[2] * PLANE
                polygon = clip(polygon, d[0], d[1], c)
        if len(polygon) > 2:
            yield i, polygon


def colour(t):
    place = min(max(t, 0.0), 1.0) * (len(VIRIDIS) - 1)
    i = min(int(place), len(VIRIDIS) - 2)
    part = place - i
    lo, hi = (bytes.fromhex(VIRIDIS[k]) for k in (i, i + 1))
    return "#" + "".join(f"{round((1 - part) * a + part * b):02x}"
                         for a, b in zip(lo, hi))


def power(x):
    """A power of ten as text."""
    return f'10<tspan dy="-5" font-size="9">{round(math.log10(x))}</tspan>'


def panel(out, x, y, size, rows, value, lo, hi):
    """Polygons in halves of a pixel, relative, those of one of 64 colours in one
    path: a small file."""
    fills = {}
    for i, polygon in rows:
        part = math.log(max(value(i), lo) / lo) / math.log(hi / lo)
        path, last = "", (0, 0)
        for k, p in enumerate(polygon):
            at = (round(2 * p[0] / BOX * size), round(2 * (1 - p[1] / BOX) * size))
            step = (at[0] - last[0], at[1] - last[1])
            if k == 0 or step != (0, 0):
                path += f'{"M" if k == 0 else "l"}{step[0]},{step[1]}'
            last = at
        fills.setdefault(colour(round(63 * min(part, 1.0)) / 63), []).append(path + "z")
    out.append(f'<g transform="translate({x} {y}) scale(0.5)" stroke-width="1">')
    for fill, paths in fills.items():
        out.append(f'<path fill="{fill}" stroke="{fill}" d="{"".join(paths)}"/>')
    out.append(f'</g><rect x="{x}" y="{y}" width="{size}" height="{size}" '
               'fill="none" stroke="#444"/>')


def bar(out, x, y, height, lo, hi):
    for k in range(64):
        out.append(f'<rect x="{x}" y="{y + height * (63 - k) / 64:.2f}" width="12" '
                   f'height="{height / 64 + 0.5:.2f}" fill="{colour(k / 63)}"/>')
    decades = round(math.log10(hi / lo))
    for k in range(decades + 1):
        at = y + height * (1 - k / decades)
        out.append(f'<path d="M{x + 12} {at:.1f}h4" stroke="#444"/>'
                   f'<text x="{x + 19}" y="{at + 4:.1f}" font-size="12">'
                   f'{power(lo * 10 ** k)}</text>')


def slices(path, files):
    size, gap, left, top = 190, 12, 34, 30
    width = left + len(files) * (size + gap) + 150
    height = top + 3 * (size + gap) + 26
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    kinds = [(1e-2, 1e1, "density", "g/cm³"), (1e-1, 1e1, "temperature", "keV"),
             (1e13, 1e17, "radiation", "erg/cm³")]
    for column, name in enumerate(files):
        time_s, cells = read(name)
        rows = list(section(cells))
        x = left + column * (size + gap)
        out.append(f'<text x="{x + size / 2}" y="{top - 10}" text-anchor="middle">'
                   f't = {time_s * 1e9:.2g} ns</text>')
        for k, (lo, hi, _, _) in enumerate(kinds):
            panel(out, x, top + k * (size + gap), size, rows,
                  lambda i, k=k: cells[i][1 + k], lo, hi)
        for t in (0, 5, 10) if column + 1 == len(files) else (0, 5):
            out.append(f'<text x="{x + t / BOX * size:.0f}" y="{height - 20}" '
                       f'text-anchor="middle" font-size="11">{t}</text>')
    for k, (lo, hi, title, unit) in enumerate(kinds):
        y = top + k * (size + gap)
        bar(out, width - 140, y + 26, size - 32, lo, hi)
        out.append(f'<text x="{width - 140}" y="{y + 12}">{title}, {unit}</text>')
        for t in (0, 5, 10):
            out.append(f'<text x="{left - 5}" y="{y + (1 - t / BOX) * size + 4:.0f}" '
                       f'text-anchor="end" font-size="11">{t}</text>')
    out.append(f'<text x="{left + (width - left - 150) / 2}" y="{height - 4}" '
               'text-anchor="middle">x, cm (upwards: y)</text>')
    write(path, out)


def write(path, out):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def ticks(lo, hi):
    step = 10.0 ** math.floor(math.log10((hi - lo) / 3))
    step *= next(m for m in (1, 2, 5, 10) if (hi - lo) / (m * step) <= 6)
    return [i * step for i in range(math.ceil(lo / step - 1e-9),
                                    math.floor(hi / step + 1e-9) + 1)]


def chart(out, x, y, size, series, title, marks=None):
    """series: label and points; marks: ticks of a logarithmic axis."""
    width, height = size
    xs = [p[0] for _, points in series for p in points]
    ys = [p[1] for _, points in series for p in points]
    x_hi = max(xs)
    lo, hi = (marks[0], marks[-1]) if marks else (min(0.0, *ys), max(ys))
    if not marks:
        lo, hi = lo - 0.05 * (hi - lo), hi + 0.05 * (hi - lo)

    def px(v):
        return x + v / x_hi * width

    def py(v):
        part = (math.log(max(v, lo) / lo) / math.log(hi / lo) if marks
                else (v - lo) / (hi - lo))
        return y + (1 - part) * height

    out.append(f'<text x="{x}" y="{y - 10}">{title}</text>'
               f'<path d="M{x} {y}v{height}h{width}" fill="none" stroke="#444"/>')
    for t in ticks(0.0, x_hi):
        out.append(f'<path d="M{px(t):.1f} {y + height}v5" stroke="#444"/>'
                   f'<text x="{px(t):.1f}" y="{y + height + 18}" '
                   f'text-anchor="middle">{t:g}</text>')
    for t in marks or ticks(lo, hi):
        text = power(t) if marks else f"{t:g}"
        out.append(f'<path d="M{x} {py(t):.1f}h-5" stroke="#444"/>'
                   f'<text x="{x - 8}" y="{py(t) + 4:.1f}" text-anchor="end">'
                   f'{text}</text>')
    if lo < 0.0 and not marks:
        out.append(f'<path d="M{x} {py(0):.1f}h{width}" stroke="#bbb"/>')
    for k, (label, points) in enumerate(series):
        line = " ".join(f"{px(a):.1f},{py(b):.1f}" for a, b in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[k]}" '
                   'stroke-width="1.6"/>'
                   f'<text x="{x + width + 8}" y="{y + 12 + 18 * k}" '
                   f'fill="{COLOURS[k]}">{label}</text>')
    out.append(f'<text x="{x + width}" y="{y + height + 34}" text-anchor="end">'
               't, ns</text>')


def balance(path, table):
    with open(table, encoding="utf-8") as file:
        rows = [[float(v) for v in line.split()] for line in file
                if line[:5].strip().isdigit()]
    t = [r[1] * 1e9 for r in rows]

    def of(column, unit):
        return [(a, r[column] / unit) for a, r in zip(t, rows)]

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 640" '
           'font-family="sans-serif" font-size="13">',
           '<rect width="680" height="640" fill="#fff"/>']
    total = [(a, (r[3] + r[4] + r[5]) / 1e18) for a, r in zip(t, rows)]
    chart(out, 70, 30, (470, 150),
          [("gas", of(3, 1e18)), ("radiation", of(4, 1e18)),
           ("escaped", of(5, 1e18)), ("sum", total)], "energy, 10¹⁸ erg")
    total = [(a, sum(r[7:11]) / 1e7) for a, r in zip(t, rows)]
    chart(out, 70, 240, (470, 150),
          [("gas", of(7, 1e7)), ("packets",
                                 [(a, (r[8] + r[9]) / 1e7) for a, r in zip(t, rows)]),
           ("walls, by the gas", of(10, 1e7)), ("sum", total)],
          "momentum along x, 10⁷ g cm/s")
    chart(out, 70, 450, (470, 130),
          [("energy", of(6, 1)), ("momentum", of(11, 1))],
          "relative error of the sums (below 10⁻¹⁷: drawn there)",
          [1e-17, 1e-16, 1e-15])
    write(path, out)


if __name__ == "__main__" and len(sys.argv) > 3 and sys.argv[1] == "slices":
    slices(sys.argv[2], sys.argv[3:])
elif __name__ == "__main__" and len(sys.argv) == 4 and sys.argv[1] == "balance":
    balance(sys.argv[2], sys.argv[3])
else:
    sys.exit(__doc__)
