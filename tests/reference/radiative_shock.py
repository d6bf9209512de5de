#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A steady radiative shock by nonequilibrium diffusion, grey.

    radiative_shock.py MACH [--light C] [--from X] [--to X]   the profile as CSV
    radiative_shock.py MACH --step                            without its structure
    radiative_shock.py MACH --jump                            the states far away
    radiative_shock.py MACH --compare RUN.csv [--max ERROR]   errors of a run
    radiative_shock.py check                                  the script by itself

R. B. Lowrie and J. D. Edwards, Shock Waves 18 (2008) 129: gamma 5/3, P0 = 1e-4,
sigma = 1e6, kappa = 1. Units: density, temperature and speed of sound of the gas far
upstream, and a length L, so that pressure is rho T / gamma, heat rho T / (gamma
(gamma - 1)), radiation energy P0 theta^4, the speed of light C, absorption sigma / C
and all opacity C / (3 kappa). Of C diffusion does not know; it is at least
sqrt(3 kappa sigma) = 1732, where nothing scatters.

In the frame of the shock, with mass flow M, E = theta^4 and the flux G of radiation in
that frame,

    M v + M T / (gamma v) + P0 E / 3 = const,
    M (v^2 / 2 + T / (gamma - 1)) + G = const,
    dE/dx = -(G - 4/3 P0 v E) / (P0 kappa),
    dG/dx = P0 sigma (T^4 - E) + v P0 / 3 dE/dx.

The first two are a quadratic equation for v: the gas is supersonic before the shock in
it and subsonic behind. The states far away are saddles of the last two; the curves that
leave the one and enter the other meet, in E and G, at the shock in the gas, x = 0.
"""
import argparse
import bisect
import math
import sys

GAMMA, P0, SIGMA, KAPPA = 5.0 / 3.0, 1e-4, 1e6, 1.0


def flows(rho, v, t):
    """Of mass, momentum and energy, gas and radiation in equilibrium."""
    radiation = P0 * t ** 4
    return (rho * v, rho * v * v + rho * t / GAMMA + radiation / 3.0,
            rho * v * (0.5 * v * v + t / (GAMMA - 1.0)) + 4.0 / 3.0 * v * radiation)


def far_downstream(mach):
    """rho, v and T, with the flows of rho = 1, v = mach, T = 1."""
    mass, momentum, energy = flows(1.0, mach, 1.0)

    def speed(t):
        b = momentum - P0 * t ** 4 / 3.0
        root = b * b - 4.0 * mass * mass * t / GAMMA
        return (b - math.sqrt(max(root, 0.0))) / (2.0 * mass)

    # Without radiation the gas would be hotter.
    hi = ((2.0 * GAMMA * mach ** 2 - GAMMA + 1.0) * ((GAMMA - 1.0) * mach ** 2 + 2.0)
          / ((GAMMA + 1.0) * mach) ** 2)
    lo = 0.25 * (3.0 + hi)
    for _ in range(100):
        t = 0.5 * (lo + hi)
        low = flows(mass / speed(t), speed(t), t)[2] < energy
        lo, hi = (t, hi) if low else (lo, t)
    return mass / speed(t), speed(t), t


class Shock:
    def __init__(self, mach):
        self.mass, self.momentum, self.energy = flows(1.0, mach, 1.0)
        self.far = ((1.0, mach, 1.0), far_downstream(mach))

    def gas(self, side, e, g):
        """v and T; side 0 is supersonic, 1 subsonic."""
        a = self.mass * (GAMMA + 1.0) / (2.0 * GAMMA)
        b = self.momentum - P0 * e / 3.0
        d = (GAMMA - 1.0) / GAMMA * (self.energy - g)
        root = math.sqrt(max(b * b - 4.0 * a * d, 0.0))
        v = (b + root if side == 0 else b - root) / (2.0 * a)
        return v, (GAMMA - 1.0) * ((self.energy - g) / self.mass - 0.5 * v * v)

    def slope(self, side, y):
        e, g = y
        v, t = self.gas(side, e, g)
        t = max(-100.0, min(t, 100.0)) # a step that was too long
        de = -(g - 4.0 / 3.0 * P0 * v * e) / (P0 * KAPPA)
        return de, P0 * SIGMA * (t ** 4 - e) + v * P0 / 3.0 * de

    def start(self, side):
        """A point a little off the state far away, on the curve to the shock."""
        _, v, t = self.far[side]
        y = (t ** 4, 4.0 / 3.0 * P0 * v * t ** 4)
        step = [1e-6 * y[0], 1e-6 * y[1]]
        jacobian = []
        for k in range(2):
            ends = []
            for sign in (1.0, -1.0):
                at = list(y)
                at[k] += sign * step[k]
                ends.append(self.slope(side, at))
            jacobian.append([(p - m) / (2.0 * step[k]) for p, m in zip(*ends)])
        (a, c), (b, d) = jacobian
        middle, product = 0.5 * (a + d), a * d - b * c
        root = math.sqrt(middle * middle - product)
        rate = middle + root if side == 0 else middle - root
        off = (1.0 if side == 0 else -1.0) * 1e-9 * y[0]
        return (y[0] + off, y[1] + off * (rate - a) / b)

    def curve(self, side):
        """x, E and G from there on, up to where the gas is at its own speed of sound
        or E passes that of the other side."""
        y, x, h = self.start(side), 0.0, 1e-7
        limits = self.far[0][2] ** 4, self.far[1][2] ** 4
        points = [(x, *y)]
        while limits[0] <= y[0] <= limits[1] and len(points) < 400000:
            sign = h if side == 0 else -h
            whole = self.runge_kutta(side, y, sign)
            half = self.runge_kutta(side, y, 0.5 * sign)
            half = self.runge_kutta(side, half, 0.5 * sign)
            error = max(abs(p - q) / (abs(q) + 1e-6) for p, q in zip(whole, half))
            if error > 1e-11 and h > 1e-11:
                h *= 0.5
                continue
            if error < 1e-13:
                h = min(2.0 * h, 4e-6)
            y, x = half, x + sign
            v, t = self.gas(side, *y)
            if (v * v < t) == (side == 0):
                break
            points.append((x, *y))
        return points

    def runge_kutta(self, side, y, h):
        def plus(k, part):
            return tuple(a + part * h * b for a, b in zip(y, k))
        k1 = self.slope(side, y)
        k2 = self.slope(side, plus(k1, 0.5))
        k3 = self.slope(side, plus(k2, 0.5))
        k4 = self.slope(side, plus(k3, 1.0))
        return tuple(a + h / 6.0 * (p + 2.0 * q + 2.0 * r + s)
                     for a, p, q, r, s in zip(y, k1, k2, k3, k4))

    def profile(self):
        """Rows x, rho, v, T, theta and G."""
        before, after = self.curve(0), self.curve(1)
        energies = [-p[1] for p in after]

        def behind(e):
            """x and G behind the shock where E is this."""
            i = min(max(bisect.bisect_left(energies, -e), 1), len(after) - 1)
            p, q = after[i - 1], after[i]
            part = (e - p[1]) / (q[1] - p[1])
            return tuple(u + part * (w - u) for u, w in ((p[0], q[0]), (p[2], q[2])))

        def excess(p):
            return p[2] - behind(p[1])[1]

        last = next((i for i in range(1, len(before)) if before[i][1] >= after[-1][1]
                     and excess(before[i - 1]) * excess(before[i]) <= 0.0), None)
        if last is None:
            sys.exit("radiative_shock.py: the curves do not meet")
        p, q = before[last - 1], before[last]
        for _ in range(60):
            x, e, g = middle = tuple(0.5 * (u + w) for u, w in zip(p, q))
            p, q = ((middle, q) if excess(p) * excess(middle) > 0.0 else (p, middle))
        shift = behind(e)[0]
        rows = [(0, u[0] - x, u[1], u[2]) for u in before[:last]] + [(0, 0.0, e, g)]
        rows += [(1, 0.0, e, g)]
        rows += [(1, u[0] - shift, u[1], u[2]) for u in reversed(after) if u[1] > e]
        return [self.row(*r) for r in rows]

    def row(self, side, x, e, g):
        v, t = self.gas(side, e, g)
        return x, self.mass / v, v, t, e ** 0.25, g


def check(mach, published):
    """Flows are the same all along, gradients of E are the flux, and the jump is as
    published."""
    shock = Shock(mach)
    rows = shock.profile()
    worst = 0.0
    for x, rho, v, t, theta, g in rows:
        worst = max(worst, abs(rho * v / shock.mass - 1.0),
                    abs((rho * v * v + rho * t / GAMMA + P0 * theta ** 4 / 3.0)
                        / shock.momentum - 1.0),
                    abs((rho * v * (0.5 * v * v + t / (GAMMA - 1.0)) + g)
                        / shock.energy - 1.0))
    # The whole heating of the gas, by the equation of radiation.
    heating = 0.0
    for a, b in zip(rows, rows[1:]):
        rate = [P0 * SIGMA * (r[3] ** 4 - r[4] ** 4)
                + r[2] / (-3.0 * KAPPA) * (r[5] - 4.0 / 3.0 * P0 * r[2] * r[4] ** 4)
                for r in (a, b)]
        heating += 0.5 * (rate[0] + rate[1]) * (b[0] - a[0])
    gain = rows[-1][5] - rows[0][5]
    source = abs(heating / gain - 1.0)
    rho, v, t = shock.far[1]
    jump = max(abs(t / published[0] - 1.0), abs(rho / published[1] - 1.0))
    residual = max(abs(p / q - 1.0) for p, q in
                   zip(flows(rho, v, t), flows(1.0, mach, 1.0)))
    hot = max(r[3] for r in rows)
    ends = max(abs(rows[0][3] - 1.0), abs(rows[-1][3] / t - 1.0))
    print(f"Mach {mach:g}: T1 {t:.6g}, rho1 {rho:.6g} (published within {jump:.1e}; jump "
          f"{residual:.0e}), hottest {hot:.5g}, at the shock theta "
          f"{next(r for r in rows if r[0] == 0.0)[4]:.6g}; flows {worst:.0e}, source "
          f"{source:.0e}, ends {ends:.0e}, {len(rows)} points, "
          f"x {rows[0][0]:.4g} .. {rows[-1][0]:.4g}")
    return worst < 1e-9 and residual < 1e-10 and source < 1e-3 and jump < 1e-4 \
        and ends < 1e-4


def write(shock, mach, options):
    rows = shock.profile()
    if options.step:
        rows = [(0.0, *state, state[2], 0.0) for state in shock.far]
    keep = [rows[0]]
    for row in rows[1:-1]: # as many as are needed to interpolate
        near = max(abs(a - b) / b for a, b in zip(row[1:5], keep[-1][1:5]))
        if near > 1e-3 or row[0] == 0.0:
            keep.append(row)
    keep.append(rows[-1])
    ends = ((options.start, shock.far[0]), (options.stop, shock.far[1]))
    far = [(x, rho, v, t, t, 4.0 / 3.0 * P0 * v * t ** 4) for x, (rho, v, t) in ends]
    light = options.light
    opacity = light / (3.0 * KAPPA)
    print(f"# radiative shock of Mach {mach:g}, computed by radiative_shock.py")
    print(f"# light {light:.9g}")
    print(f"# radiation {P0:.9g}")
    print(f"# gas {1.0 / GAMMA:.16g}")
    print(f"# absorption {SIGMA / light:.9g}")
    print(f"# scattering {max(opacity - SIGMA / light, 0.0):.9g}")
    print("# opacity_by_density 0")
    print("x,rho,v,t,theta,flux")
    keep = [r for r in keep if options.start < r[0] < options.stop]
    for row in far[:1] + keep + far[1:]:
        print(",".join(f"{value:.9g}" for value in row))


def read(path):
    """Columns of a run by examples/host_shock.c."""
    with open(path, encoding="utf-8") as file:
        names, *lines = [line.strip().split(",") for line in file]
    return {name: [float(line[i]) for line in lines] for i, name in enumerate(names)}


def cell_means(rows, places, column, shift):
    """Of a profile that is linear between its rows, moved by shift."""
    xs = [r[0] + shift for r in rows]
    ys = [r[column] for r in rows]
    sums = [0.0]
    for i in range(1, len(rows)):
        sums.append(sums[-1] + 0.5 * (ys[i] + ys[i - 1]) * (xs[i] - xs[i - 1]))

    def integral(x):
        i = bisect.bisect_right(xs, x)
        if i == 0:
            return (x - xs[0]) * ys[0]
        if i == len(xs):
            return sums[-1] + (x - xs[-1]) * ys[-1]
        part = (x - xs[i - 1]) / (xs[i] - xs[i - 1])
        y = ys[i - 1] + part * (ys[i] - ys[i - 1])
        return sums[i - 1] + 0.5 * (ys[i - 1] + y) * (x - xs[i - 1])

    half = 0.5 * (places[1] - places[0])
    return [(integral(x + half) - integral(x - half)) / (2.0 * half) for x in places]


COLUMNS = {"rho": 1, "t": 3, "theta": 4}


def compare(shock, options):
    """A run against the profile, moved to where the density fits best: mean and
    largest relative errors of cells, without those within two of the shock in the gas
    and of the beds, and of the jumps: means of the tenth of the cells before the beds,
    relative to the other side."""
    rows, run = shock.profile(), read(options.compare)
    places = run["x"]
    n, width = len(places), places[1] - places[0]
    bed = n // 20

    def misfit(shift):
        right = cell_means(rows, places, 1, shift)
        return math.fsum(abs(a - b) for a, b in zip(run["rho"], right))

    shift = min((i * 0.1 * width for i in range(-80, 81)), key=misfit)
    keep = [i for i in range(bed, n - bed) if abs(places[i] - shift) > 2.5 * width]
    print(f"moved by {shift:.3g}, {shift / width:.2g} cells")
    worst = 0.0
    for name, column in COLUMNS.items():
        right = cell_means(rows, places, column, shift)
        errors = [(abs(run[name][i] / right[i] - 1.0), places[i]) for i in keep]
        mean, (most, where) = math.fsum(e for e, _ in errors) / len(keep), max(errors)
        jumps = []
        for part in (range(bed, bed + n // 10), range(n - bed - n // 10, n - bed)):
            jumps.append(math.fsum(run[name][i] for i in part) / len(part))
            jumps.append(math.fsum(right[i] for i in part) / len(part))
        jump = (jumps[2] / jumps[0]) / (jumps[3] / jumps[1]) - 1.0
        print(f"{name}: mean {100 * mean:.2f} %, largest {100 * most:.2f} % at "
              f"{where:.5f}, jump {jumps[2] / jumps[0]:.5g}, {100 * jump:+.2f} %")
        worst = max(worst, mean, abs(jump))
    return worst <= options.max


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mach", help="Mach number, or check")
    parser.add_argument("--light", type=float, default=5000.0)
    parser.add_argument("--from", type=float, default=-0.02, dest="start")
    parser.add_argument("--to", type=float, default=0.02, dest="stop")
    parser.add_argument("--jump", action="store_true")
    parser.add_argument("--step", action="store_true")
    parser.add_argument("--compare")
    parser.add_argument("--max", type=float, default=0.02)
    options = parser.parse_args()
    if options.mach == "check":
        # As set up by others: 100 eV, 1 g/cm3 before, 207.756 and 855.72 eV behind.
        good = [check(2.0, (2.07756, 2.286)), check(5.0, (8.5572, 3.598))]
        sys.exit(0 if all(good) else 1)
    mach = float(options.mach)
    if options.jump:
        print("rho,v,t")
        for state in Shock(mach).far:
            print(",".join(f"{value:.9g}" for value in state))
    elif options.compare:
        sys.exit(0 if compare(Shock(mach), options) else 1)
    else:
        write(Shock(mach), mach, options)


main()
