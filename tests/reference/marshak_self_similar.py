#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Self-similar Marshak waves of diffusion that are not in equilibrium.

    marshak_self_similar.py krief|derei [--time NS] [--compare FILE]

prints x_cm, material_kev, radiation_kev at that time, behind the front, as CSV;
with --compare the largest difference to a file of published values instead.

Opacity and energy density are powers of temperature T and density rho = x^p:

    sigma_t = kt T^-alpha rho^lambda,  sigma_a = ka T^-alpha rho^lambda,
    u = u0 T^beta rho^mu,              radiation temperature at x = 0: t^tau keV,

with such exponents that x / t is the only variable: T = t^tau theta(xi), radiation
energy density a t^(4 tau) f(xi). Then

    4 tau f - xi f' = (K theta^alpha xi^(-lambda p) f')' + S,
    (u0 / a) (4 tau w - xi w') = -S,    w = theta^beta xi^(mu p),
    S = A theta^-alpha xi^(lambda p) (theta^4 - f),  K = c / 3 kt,  A = c ka.

Near the front s = xi0 - xi is small, theta ~ s^(1/alpha) and f ~ s^(beta/alpha):
the integration begins there, goes to xi = 0, and the place of the front is the one
for which f(0) = 1. (M. Krief and R. G. McClarren, Self-similar solutions for the
non-equilibrium nonlinear supersonic Marshak wave problem, Physics of Fluids 36
(2024) 017120, test 2; N. Derei, S. Balberg, S. I. Heizler, E. Steinberg, R. G.
McClarren and M. Krief, 2024, test 1.)
"""
import argparse
import math
import sys

C, RADIATION = 29.9792458, 1.3720172e14  # cm/ns, erg/cm3/keV^4
PROBLEMS = {
    "krief": dict(kt=100.0, ka=0.1, alpha=3.0, lam=0.0, u0=6.860085e14, beta=4.0,
                  mu=0.0, p=0.0, tau=1.0 / 3.0),
    "derei": dict(kt=40.0, ka=0.1, alpha=1.5, lam=1.2, u0=1e14, beta=3.4, mu=0.86,
                  p=20.0 / 19.0, tau=86.0 / 57.0),
}


class Wave:
    def __init__(self, kt, ka, alpha, lam, u0, beta, mu, p, tau):
        self.alpha, self.beta, self.tau = alpha, beta, tau
        self.k, self.a, self.ratio = C / (3.0 * kt), C * ka, u0 / RADIATION
        self.lp, self.mp = lam * p, mu * p

    def start(self, xi0, s):
        """f, flux and w just behind the front."""
        n = self.beta / self.alpha
        opaque, dense = xi0 ** self.lp, xi0 ** self.mp

        def split(theta0):
            """f0, and what is left of the balance of energy."""
            w0 = theta0 ** self.beta * dense
            f0 = (self.ratio * xi0 * n * w0 * theta0 ** self.alpha
                  / (self.a * opaque))
            if self.beta == 4.0:
                f0 += theta0 ** 4
            flux = self.k * theta0 ** self.alpha / opaque * n * f0
            return f0, flux - xi0 * (f0 + self.ratio * w0)

        lo, hi = 1e-6, 1e6
        for _ in range(200):
            middle = math.sqrt(lo * hi)
            lo, hi = (middle, hi) if split(middle)[1] < 0.0 else (lo, middle)
        f0, w0 = split(lo)[0], lo ** self.beta * dense
        f, w = f0 * s ** n, w0 * s ** n
        return [f, -xi0 * (f + self.ratio * w), w]

    def slopes(self, xi, y):
        f, flux, w = y
        theta = (w / xi ** self.mp) ** (1.0 / self.beta)
        opaque = theta ** -self.alpha * xi ** self.lp
        source = self.a * opaque * (theta ** 4 - f)
        slope = flux * opaque / self.k
        return (slope, 4.0 * self.tau * f - xi * slope - source,
                (4.0 * self.tau * w + source / self.ratio) / xi)

    def integrate(self, xi0, keep=None):
        """f at 0, by Runge and Kutta's method in ln s, then in ln xi."""
        s = 1e-10 * xi0
        y = self.start(xi0, s)
        n = 3000

        def run(y, first, last, to_xi, dxi):
            step = (last - first) / n
            for i in range(n):
                v = first + i * step

                def g(v, y):
                    return [dxi(v) * d for d in self.slopes(to_xi(v), y)]

                k1 = g(v, y)
                k2 = g(v + step / 2, [a + step / 2 * b for a, b in zip(y, k1)])
                k3 = g(v + step / 2, [a + step / 2 * b for a, b in zip(y, k2)])
                k4 = g(v + step, [a + step * b for a, b in zip(y, k3)])
                y = [a + step / 6 * (p + 2 * q + 2 * r + t)
                     for a, p, q, r, t in zip(y, k1, k2, k3, k4)]
                if keep is not None:
                    keep.append((to_xi(v + step), *y))
            return y

        y = run(y, math.log(s), math.log(xi0 / 2),
                lambda v: xi0 - math.exp(v), lambda v: -math.exp(v))
        y = run(y, math.log(xi0 / 2), math.log(1e-7 * xi0), math.exp, math.exp)
        return y[0]

    def solve(self):
        """Front per time, and rows xi, theta, f^(1/4) from 0 to the front."""
        lo, hi = 1e-2, 1e2
        while hi / lo > 1.0 + 1e-10:
            middle = math.sqrt(lo * hi)
            lo, hi = ((middle, hi) if self.integrate(middle) < 1.0
                      else (lo, middle))
        rows = []
        self.integrate(lo, rows)
        rows = [(xi, (w / xi ** self.mp) ** (1.0 / self.beta), f ** 0.25)
                for xi, f, _, w in rows]
        return lo, rows[::-1]


def at(rows, xi):
    """Theta and f^(1/4) at a place, linear in between."""
    lo, hi = 0, len(rows) - 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if rows[middle][0] <= xi else (lo, middle)
    a, b = rows[lo], rows[hi]
    part = max(0.0, (xi - a[0]) / (b[0] - a[0]))
    return [u + part * (v - u) for u, v in zip(a[1:], b[1:])]


def compare(path, front, rows):
    worst = 0.0
    for line in open(path, encoding="utf-8"):
        if line[0] in "#x":
            continue
        x, material, radiation = (float(v) for v in line.split(","))
        if x < 0.85 * front:
            theta, f = at(rows, x)
            worst = max(worst, abs(theta / material - 1.0),
                        abs(f / radiation - 1.0))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem", choices=PROBLEMS)
    parser.add_argument("--time", type=float, default=1.0, help="ns")
    parser.add_argument("--points", type=int, default=64)
    parser.add_argument("--compare", help="published values at 1 ns")
    options = parser.parse_args()
    wave = Wave(**PROBLEMS[options.problem])
    front, rows = wave.solve()
    if options.compare:
        worst = compare(options.compare, front, rows)
        print(f"front at {front:.5f} cm, largest difference {worst:.5f}")
        sys.exit(worst > 3e-3)
    t = options.time
    print(f"# {options.problem}, {t:g} ns, front at {front * t:.6f} cm, computed "
          f"by marshak_self_similar.py")
    print("x_cm,material_kev,radiation_kev")
    for i in range(options.points):
        xi = front * (i + 0.5) / options.points
        theta, f = at(rows, xi)
        print(f"{xi * t:.6e},{theta * t ** wave.tau:.5f},"
              f"{f * t ** wave.tau:.5f}")


main()
