#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Self-similar Marshak waves of diffusion that are not in equilibrium.

    marshak_self_similar.py PROBLEM [--time NS] [--compare FILE]

prints x_cm, material_kev, radiation_kev at that time, behind the front, as CSV;
with --compare the largest difference to a file of published values instead, with
--front LEVEL where matter has that temperature (keV).

Opacity and energy density are powers of temperature T and density rho = x^p:

    sigma_t = kt T^-alpha rho^lambda,  sigma_a = ka T^-alpha rho^lambda,
    u = u0 T^beta rho^mu,              radiation temperature at x = 0: t^tau keV,

with such exponents that x / t is the only variable,

    (4 - beta) tau = mu p,  alpha tau - 1 = lambda p:

T = t^tau theta(xi), radiation energy density a t^(4 tau) f(xi). Then

    4 tau f - xi f' = (K theta^alpha xi^(-lambda p) f')' + S,
    (u0 / a) (4 tau w - xi w') = -S,    w = theta^beta xi^(mu p),
    S = A theta^-alpha xi^(lambda p) (theta^4 - f),  K = c / 3 kt,  A = c ka.

Near the front s = xi0 - xi is small and theta ~ s^(1/alpha). For beta up to 4
f ~ s^(beta/alpha); beyond, f = theta^4 there: equilibrium. The integration begins
there, goes to xi = 0, and the place of the front is the one for which f(0) = 1. A
bath that heats the slab has bath^4 = t^(4 tau) (1 + 2 flux / c).
(M. Krief and R. G. McClarren, Self-similar solutions for the non-equilibrium
nonlinear supersonic Marshak wave problem, Physics of Fluids 36 (2024) 017120, krief:
test 2; N. Derei, S. Balberg, S. I. Heizler, E. Steinberg, R. G. McClarren and M.
Krief, The non-equilibrium Marshak wave problem in non-homogeneous media, 2024, derei:
test 1. The others are variants with other exponents.)
"""
import argparse
import math
import sys

C, RADIATION = 29.9792458, 1.3720172e14  # cm/ns, erg/cm3/keV^4
PROBLEMS = {
    "krief": dict(kt=100.0, ka=0.1, alpha=3.0, u0=6.860085e14, beta=4.0,
                  tau=1.0 / 3.0),
    "derei": dict(kt=40.0, ka=0.1, alpha=1.5, lam=1.2, u0=1e14, beta=3.4, mu=0.86,
                  p=20.0 / 19.0, tau=86.0 / 57.0),
    # Opacity T^-2.
    "steep": dict(kt=300.0, ka=1.0, alpha=2.0, u0=5e14, beta=4.0, tau=0.5),
    # Heat capacity T^4 in a density that falls with x.
    "falling": dict(kt=500.0, ka=1.0, alpha=2.5, u0=5e14, beta=5.0, mu=1.0, p=-0.4,
                    tau=0.4),
    # Heat capacity T^5, opacity T^-4.5.
    "stiff": dict(kt=1000.0, ka=1.0, alpha=4.5, u0=1e15, beta=6.0, mu=1.0,
                  p=-4.0 / 9.0, tau=2.0 / 9.0),
}

# Alexander's stiffly accurate method of third order: its diagonal, its weights.
GAMMA = 0.43586652150845899942
STAGES = (
    (GAMMA,),
    ((1.0 - GAMMA) / 2.0, GAMMA),
    (-(6.0 * GAMMA ** 2 - 16.0 * GAMMA + 1.0) / 4.0,
     (6.0 * GAMMA ** 2 - 20.0 * GAMMA + 5.0) / 4.0, GAMMA),
)


def solve3(m, b):
    """Of three linear equations."""
    m = [list(row) + [v] for row, v in zip(m, b)]
    for i in range(3):
        best = max(range(i, 3), key=lambda r: abs(m[r][i]))
        m[i], m[best] = m[best], m[i]
        for r in range(i + 1, 3):
            q = m[r][i] / m[i][i]
            m[r] = [x - q * y for x, y in zip(m[r], m[i])]
    out = [0.0] * 3
    for i in (2, 1, 0):
        out[i] = (m[i][3] - sum(m[i][j] * out[j] for j in range(i + 1, 3))) / m[i][i]
    return out


def implicit_step(g, v, y, step):
    """y at v + step, for dy/dv = g(v, y)."""
    first = g(v, y)
    jacobian = [[0.0] * 3 for _ in range(3)]
    for j in range(3):
        small = 1e-7 * max(1.0, abs(y[j]))
        moved = g(v, [x + small * (i == j) for i, x in enumerate(y)])
        for i in range(3):
            jacobian[i][j] = (moved[i] - first[i]) / small
    matrix = [[(i == j) - step * GAMMA * jacobian[i][j] for j in range(3)]
              for i in range(3)]
    slopes = []
    for row in STAGES:
        base = [x + step * sum(a * k[i] for a, k in zip(row, slopes))
                for i, x in enumerate(y)]
        at = v + step * sum(row)
        new = [b + step * GAMMA * k
               for b, k in zip(base, slopes[-1] if slopes else first)]
        for _ in range(30):
            k = g(at, new)
            gap = [b + step * GAMMA * d - x for b, d, x in zip(base, k, new)]
            move = solve3(matrix, gap)
            new = [x + d for x, d in zip(new, move)]
            if max(abs(d) for d in move) < 1e-12:
                break
        slopes.append([(x - b) / (step * GAMMA) for x, b in zip(new, base)])
    return new


class Wave:
    def __init__(self, kt, ka, alpha, u0, beta, tau, lam=0.0, mu=0.0, p=0.0):
        if (abs((4.0 - beta) * tau - mu * p) > 1e-9
                or abs(alpha * tau - 1.0 - lam * p) > 1e-9):
            raise ValueError("not self-similar")
        self.alpha, self.beta, self.tau = alpha, beta, tau
        self.k, self.a, self.ratio = C / (3.0 * kt), C * ka, u0 / RADIATION
        self.lp, self.mp = lam * p, mu * p

    def start(self, xi0, s):
        """Logarithms of f, -flux and w just behind the front."""
        opaque, dense = xi0 ** self.lp, xi0 ** self.mp
        if self.beta > 4.0:
            theta = (self.alpha * xi0 * opaque * s / (4.0 * self.k)) ** (
                1.0 / self.alpha)
            f, w = theta ** 4, theta ** self.beta * dense
            return [math.log(v) for v in (f, xi0 * (f + self.ratio * w), w)]
        n = self.beta / self.alpha

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
        f, w = split(lo)[0] * s ** n, lo ** self.beta * dense * s ** n
        return [math.log(v) for v in (f, xi0 * (f + self.ratio * w), w)]

    def slopes(self, xi, y):
        f, flux, w = math.exp(y[0]), -math.exp(y[1]), math.exp(y[2])
        theta = (w / xi ** self.mp) ** (1.0 / self.beta)
        opaque = theta ** -self.alpha * xi ** self.lp
        source = self.a * opaque * (theta ** 4 - f)
        slope = flux * opaque / self.k
        return (slope / f, (4.0 * self.tau * f - xi * slope - source) / flux,
                (4.0 * self.tau + source / (w * self.ratio)) / xi)

    def integrate(self, xi0, n, keep=None):
        """f and flux at 0: in steps of ln s, then of ln xi."""
        s = 1e-10 * xi0
        y = self.start(xi0, s)

        def run(y, first, last, to_xi, dxi):
            step = (last - first) / n

            def g(v, y):
                return [dxi(v) * d for d in self.slopes(to_xi(v), y)]

            for i in range(n):
                v = first + i * step
                y = implicit_step(g, v, y, step)
                if keep is not None:
                    keep.append((to_xi(v + step), *y))
            return y

        y = run(y, math.log(s), math.log(xi0 / 2),
                lambda v: xi0 - math.exp(v), lambda v: -math.exp(v))
        y = run(y, math.log(xi0 / 2), math.log(1e-7 * xi0), math.exp, math.exp)
        return math.exp(y[0]), math.exp(y[1])

    def solve(self, n=500):
        """Front per time, bath at 1 ns, and rows xi, theta, f^(1/4) from 0 on."""
        a, b = math.log(0.1), math.log(0.2)
        fa = math.log(self.integrate(math.exp(a), n)[0])
        for _ in range(40):
            fb = math.log(self.integrate(math.exp(b), n)[0])
            if abs(fb) < 1e-9:
                break
            move = -fb * (b - a) / (fb - fa)
            a, fa, b = b, fb, b + max(-1.0, min(1.0, move))
        front, rows = math.exp(b), []
        flux = self.integrate(front, n, rows)[1]
        rows = [(xi, (math.exp(w) / xi ** self.mp) ** (1.0 / self.beta),
                 math.exp(f / 4.0)) for xi, f, _, w in rows]
        return front, (1.0 + 2.0 * flux / C) ** 0.25, rows[::-1]


def at(rows, xi):
    """Theta and f^(1/4) at a place, linear in between."""
    lo, hi = 0, len(rows) - 1
    while hi - lo > 1:
        middle = (lo + hi) // 2
        lo, hi = (middle, hi) if rows[middle][0] <= xi else (lo, middle)
    a, b = rows[lo], rows[hi]
    part = max(0.0, (xi - a[0]) / (b[0] - a[0]))
    return [u + part * (v - u) for u, v in zip(a[1:], b[1:])]


def place(rows, level):
    """Where theta falls through level."""
    for (x0, t0, _), (x1, t1, _) in zip(rows, rows[1:]):
        if t1 < level <= t0:
            return x0 + (t0 - level) / (t0 - t1) * (x1 - x0)
    return math.nan


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
    parser.add_argument("--front", type=float, metavar="LEVEL")
    parser.add_argument("--steps", type=int, default=500, help="of each half")
    options = parser.parse_args()
    wave = Wave(**PROBLEMS[options.problem])
    front, bath, rows = wave.solve(options.steps)
    if options.compare:
        worst = compare(options.compare, front, rows)
        print(f"front at {front:.5f} cm, bath {bath:.6f} keV, largest difference "
              f"{worst:.5f}")
        sys.exit(worst > 3e-3)
    t = options.time
    if options.front:
        level = options.front / t ** wave.tau
        print(f"{t:g} {place(rows, level) * t:.6f}")
        return
    print(f"# {options.problem}, {t:g} ns, front at {front * t:.6f} cm, bath "
          f"{bath:.6f} keV at 1 ns, computed by marshak_self_similar.py")
    print("x_cm,material_kev,radiation_kev")
    for i in range(options.points):
        xi = front * (i + 0.5) / options.points
        theta, f = at(rows, xi)
        print(f"{xi * t:.6e},{theta * t ** wave.tau:.5f},"
              f"{f * t ** wave.tau:.5f}")


if __name__ == "__main__":
    main()
