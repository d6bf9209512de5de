#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Spectrum of a slab that moves towards an observer.

    moving_slab.py [--from S] [--to S] [--max X] [tally-observer.csv ...]

R. G. McClarren and N. A. Gentile 2021: a slab of aluminium, 0.4 cm thick, 0.1 g/cm3,
held at 1 keV, moves with v = 0.5994 cm/ns towards an observer at z = 12 cm, who looks
at t = 10 ns; its back is at z = 0 at t = 0, when there is no radiation. It absorbs and
emits. In the direction of cosine mu the observer sees

    I = B(D E) / D^3 (1 - exp(-D sigma(D E) s)),   D = gamma (1 - mu v / c),

with s = c (t_f - t_b), t_b = (mu c t - z) / (mu c - v) and
t_f = (0.4 + mu c t - z) / (mu c - v), both within 0 .. t: when light that arrives
has passed the back and the front of the slab. The energy density is (2 pi / c) times
the integral of I over mu. sigma is constant in each of the groups of
moving_slab_groups.csv in the frame of the slab; the same edges divide the spectrum
in the frame of the observer.

Prints, for each group (the first has all energies below, the last all above),
low_kev, high_kev, middle_kev, energy_erg_cm3, and spectrum: energy per keV. With
tallies by time, group and direction of what leaves examples/problems/moving-slab.yaml
(of one run, or of replicas): spectrum_run and spectrum_run_error (one standard error)
as well, and at the end the error weighted by energy, sum of |run - right| / sum of
right, over all groups. --from and --to: the spectrum averaged over these times. With
--max the exit status is 1 if that error is above it.
"""
import argparse
import csv
import math
import os
import sys

A, C = 1.3720172e14, 2.99792458e10
THICK_CM, RHO, T_KEV, V, Z_CM = 0.4, 0.1, 1.0, 0.5994e9, 12.0
AREA_CM2 = 100.0 * 100.0
HERE = os.path.dirname(os.path.abspath(__file__))

# Gauss-Legendre points and weights on 0 .. 1.
GAUSS = [(0.5 - 0.5 * x, 0.5 * w) for x, w in (
    (0.9602898564975363, 0.1012285362903763),
    (0.7966664774136267, 0.2223810344533745),
    (0.5255324099163290, 0.3137066458778873),
    (0.1834346424956498, 0.3626837833783620))]
GAUSS += [(1.0 - x, w) for x, w in GAUSS]


def read_groups():
    """Edges, keV, and opacities, 1/cm, in the frame of the slab."""
    with open(os.path.join(HERE, "moving_slab_groups.csv"),
              encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    edges = [float(row["low_kev"]) for row in rows]
    edges.append(float(rows[-1]["high_kev"]))
    for row, edge in zip(rows, edges[1:]):
        assert float(row["high_kev"]) == edge
    return edges, [RHO * float(row["kappa_cm2_g"]) for row in rows]


def black(e):
    """4 pi / c times Planck's function, erg/cm3/keV."""
    return 15.0 / math.pi ** 4 * A * e ** 3 / math.expm1(e / T_KEV)


def path(mu, t):
    """Of a ray in the slab, cm."""
    closing = mu * C - V
    back = (mu * C * t - Z_CM) / closing
    front = (THICK_CM + mu * C * t - Z_CM) / closing
    return C * (min(max(front, 0.0), t) - min(max(back, 0.0), t))


def add_ray(energy, mu, t, weight, edges, sigma):
    """The rays of a cosine, to the groups of the observer."""
    beta = V / C
    doppler = (1.0 - mu * beta) / math.sqrt(1.0 - beta * beta)
    s = path(mu, t)
    # In the frame of the slab, where opacities change and where groups end.
    own = edges[1:-1]
    seen = [doppler * e for e in own]
    ends = sorted([1e-6, 80.0] + own + seen)
    g = k = 0
    for lo, hi in zip(ends, ends[1:]):
        middle = 0.5 * (lo + hi)
        while g < len(own) and own[g] < middle:
            g += 1
        while k < len(seen) and seen[k] < middle:
            k += 1
        total = 0.0
        for x, w in GAUSS if hi > lo else ():
            total += w * black(lo + x * (hi - lo))
        # dE of the observer is that of the slab over D.
        energy[k] += (weight * total * (hi - lo) / doppler ** 4 *
                      -math.expm1(-doppler * sigma[g] * s))


def solve(t, edges, sigma):
    """Energy of each group, erg/cm3."""
    energy = [0.0] * len(sigma)
    first, full = (Z_CM - THICK_CM) / (C * t), Z_CM / (C * t)
    pieces = [first + (full - first) * i / 3 for i in range(4)]
    pieces += [full * (1.0 / full) ** (i / 6) for i in range(1, 7)]
    for lo, hi in zip(pieces, pieces[1:]):
        for x, w in GAUSS:
            add_ray(energy, lo + x * (hi - lo), t, 0.5 * w * (hi - lo), edges,
                    sigma)
    return energy


def read_tally(name, n):
    """Energy density of each group, from what crosses z = 12 cm, and its
    standard error: radiation of cosine mu carries mu c times its energy."""
    mean, square = [0.0] * n, [0.0] * n
    with open(name, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if line[0] != "#"))
    groups = sorted({float(row["group_from"]) for row in rows})
    assert len(groups) == n
    for row in rows:
        lo, hi = float(row["mu_from"]), float(row["mu_to"])
        duration = float(row["time_to"]) - float(row["time_from"])
        if not 0.0 < lo < hi <= 1.0 or not duration < 1e-7:
            continue
        share = 1.0 / (0.5 * (lo + hi) * C * AREA_CM2 * duration)
        g = groups.index(float(row["group_from"]))
        mean[g] += share * float(row["energy"])
        square[g] += (share * float(row.get("energy_error") or 0.0)) ** 2
    return mean, [math.sqrt(x) for x in square]


def average(tallies, n):
    """Of several runs; of one, its own errors (of replicas)."""
    if len(tallies) == 1:
        return tallies[0]
    mean, error = [0.0] * n, [0.0] * n
    for g in range(n):
        values = [tally[0][g] for tally in tallies]
        mean[g] = math.fsum(values) / len(values)
        square = math.fsum((x - mean[g]) ** 2 for x in values)
        error[g] = math.sqrt(square / len(values) / (len(values) - 1))
    return mean, error


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--from", dest="start", type=float, default=1e-8)
    parser.add_argument("--to", dest="stop", type=float, default=1e-8)
    parser.add_argument("--max", type=float, help="of the error")
    parser.add_argument("tallies", nargs="*")
    options = parser.parse_args()
    edges, sigma = read_groups()
    n = len(sigma)
    right = [0.0] * n
    for x, w in GAUSS:
        t = options.start + x * (options.stop - options.start)
        for g, energy in enumerate(solve(t, edges, sigma)):
            right[g] += w * energy
    widths = [hi - lo for lo, hi in zip(edges, edges[1:])]
    names = "low_kev,high_kev,middle_kev,energy_erg_cm3,spectrum"
    found, error = [], []
    if options.tallies:
        found, error = average([read_tally(name, n)
                                for name in options.tallies], n)
        names += ",spectrum_run,spectrum_run_error"
    print(names)
    for g in range(n):
        middle = math.sqrt(edges[g] * edges[g + 1])
        row = [edges[g], edges[g + 1], middle, right[g], right[g] / widths[g]]
        if found:
            row += [found[g] / widths[g], error[g] / widths[g]]
        print(",".join(f"{x:.6e}" for x in row))
    if found:
        wrong = (math.fsum(abs(a - b) for a, b in zip(found, right)) /
                 math.fsum(right))
        noise = math.fsum(error) / math.fsum(right)
        print(f"error weighted by energy {wrong:.4f}, standard error {noise:.4f}, "
              f"energy {math.fsum(found) / math.fsum(right):.4f} of what is right",
              file=sys.stderr)
        sys.exit(options.max is not None and not wrong <= options.max)


main()
