#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waves of radiation and matter by diffusion, on fine cells.

    diffusion_wave.py PROBLEM|check [--times NS,NS,...] [--cells N] [--dt-max NS]

prints x_cm and the temperatures (keV) of matter and radiation at each of the times as CSV,
and where matter has 0.5 keV. check: compare with the solutions of
marshak_self_similar.py instead, exit status 1 if one is off by more than 1 %.

    dE/dt = div (c / 3 sigma_t grad E) + c sigma_a (a T^4 - E)
    du/dt = c sigma_a (E - a T^4),  u = u0 T^beta rho^mu,
    sigma_t = kt T^-alpha rho^lambda,  sigma_a = ka T^-alpha rho^lambda,  rho = x^p

in a slab, a cylinder or a sphere (geometry 0, 1, 2). A bath of temperature bath(t)
is at the wall: c E / 4 + flux / 2 = c a bath^4 / 4 there. A slab is heated at x = 0,
cylinder and sphere from outside. Steps are implicit; within one, T follows from E by
Newton's method, opacities and flux are repeated until nothing changes. Opacity at faces
is of T^4 = mean of both sides: with that of the cold side no wave would move.
"""
import argparse
import math
import sys

import marshak_self_similar as marshak

C, A = 29.9792458, 1.3720172e14  # cm/ns, erg/cm3/keV^4
# Where they are heated: at x = 0 (geometry 0), or from outside.
PROBLEMS = {
    # Heat capacity T^5, opacity T^-4.5, all of it absorption: equilibrium.
    "stiff-absorbing": dict(length=0.08, kt=1000.0, ka=1000.0, alpha=4.5, u0=1e15,
                            beta=6.0, cold=0.01, bath=lambda t: 1.0),
    "converging": dict(geometry=1, length=0.1, kt=3000.0, ka=3000.0, alpha=3.0,
                       u0=3e14, beta=1.0, cold=0.01, bath=lambda t: 1.0),
    "imploding": dict(geometry=2, length=0.1, kt=3000.0, ka=3000.0, alpha=3.0,
                      u0=3e14, beta=1.0, cold=0.01, bath=lambda t: 1.0),
}


def self_similar(name, n_steps=500):
    """Of marshak_self_similar.py: its matter, front and profile at 1 ns."""
    values = marshak.PROBLEMS[name]
    front, bath, rows = marshak.Wave(**values).solve(n_steps)
    matter = dict(values, length=1.3 * front, cold=0.005,
                  bath=lambda t: bath * t ** values["tau"])
    del matter["tau"]
    return matter, front, rows


class Matter:
    def __init__(self, length, kt, ka, alpha, u0, beta, cold, bath, lam=0.0,
                 mu=0.0, p=0.0, geometry=0):
        self.length, self.kt, self.ka, self.alpha = length, kt, ka, alpha
        self.u0, self.beta, self.cold, self.bath = u0, beta, cold, bath
        self.lam, self.mu, self.p, self.geometry = lam, mu, p, geometry


class Wave:
    """E and T of cells; x is the distance from the wall in a slab, else from the
    middle."""

    def __init__(self, matter, n):
        m = self.m = matter
        g = m.geometry
        edge = [m.length * i / n for i in range(n + 1)]
        self.edge = edge
        self.x = [(a + b) / 2 for a, b in zip(edge, edge[1:])]
        self.area = [x ** g for x in edge]
        self.volume = [(b ** (g + 1) - a ** (g + 1)) / (g + 1)
                       for a, b in zip(edge, edge[1:])]

        def mean(power, lo, hi):
            """Of x^power."""
            q = power + 1.0
            return (hi ** q - lo ** q) / (q * (hi - lo)) if power else 1.0

        ends = list(zip(edge, edge[1:]))
        self.opaque = [mean(m.lam * m.p, lo, hi) for lo, hi in ends]
        self.heat = [m.u0 * mean(m.mu * m.p, lo, hi) for lo, hi in ends]
        # Between the middles of cells, and from the wall of a slab to the first.
        places = [0.0] + self.x + [m.length]
        self.opaque_edge = [mean(m.lam * m.p, lo, hi)
                            for lo, hi in zip(places, places[1:])]
        self.T = [m.cold] * n
        self.E = [A * m.cold ** 4] * n
        self.n = n

    def conduct(self, dt, bath4):
        """Of each face: area dt D / distance; the wall's to its bath."""
        m, n, g = self.m, self.n, self.m.geometry
        T4 = [t ** 4 for t in self.T]
        width = self.m.length / n
        out = [0.0] * (n + 1)
        k = C * dt / 3.0 / m.kt
        for i in range(1, n):
            t = (0.5 * (T4[i - 1] + T4[i])) ** (0.25 * m.alpha)
            out[i] = self.area[i] * k * t / self.opaque_edge[i] / width
        wall, cell = (0, 0) if g == 0 else (n, n - 1)
        # c (bath - E_wall) / 2 is the flux, and D (E_wall - E) / (width / 2).
        t = (0.5 * (T4[cell] + bath4)) ** (0.25 * m.alpha)
        d = k * t / self.opaque_edge[wall] / (width / 2)
        out[wall] = self.area[wall] / (1.0 / d + 2.0 / (C * dt))
        return out, wall

    def step(self, time, dt):
        """One step to `time`; false where it does not converge."""
        m, n = self.m, self.n
        bath4 = m.bath(time) ** 4
        old_E, old_u = self.E, [h * t ** m.beta
                                for h, t in zip(self.heat, self.T)]
        old_T = self.T
        for turn in range(40):
            face, wall = self.conduct(dt, bath4)
            # T = T0 + (g0 + g1 E): E's equation is tridiagonal.
            diagonal, right, g0, g1 = [], [], [], []
            for i in range(n):
                T, v = self.T[i], self.volume[i]
                s = dt * C * m.ka * T ** -m.alpha * self.opaque[i]
                u = self.heat[i] * T ** m.beta
                cv = m.beta * u / T
                e = A * T ** 4
                # sigma_a changes with T too: matters far from equilibrium.
                bottom = cv + s * 4.0 * e / T + s * m.alpha / T * max(
                    0.0, self.E[i] - e)
                a0 = (old_u[i] - u - s * e) / bottom
                a1 = s / bottom
                g0.append(a0)
                g1.append(a1)
                # E + u is conserved: u_new = u + cv (a0 + a1 E)
                diagonal.append(v * (1.0 + cv * a1) + face[i] + face[i + 1])
                right.append(v * (old_E[i] + old_u[i] - u - cv * a0))
            right[0 if wall == 0 else n - 1] += face[wall] * A * bath4
            for i in range(1, n):
                q = face[i] / diagonal[i - 1]
                diagonal[i] -= q * face[i]
                right[i] += q * right[i - 1]
            E = [0.0] * n
            E[-1] = right[-1] / diagonal[-1]
            for i in range(n - 2, -1, -1):
                E[i] = (right[i] + face[i + 1] * E[i + 1]) / diagonal[i]
            change = 0.0
            T = []
            for i in range(n):
                new = self.T[i] + g0[i] + g1[i] * E[i]
                new = min(max(new, 0.5 * self.T[i]), 2.0 * self.T[i])
                change = max(change, abs(new / self.T[i] - 1.0))
                T.append(new)
            self.T, self.E = T, E
            if change < 1e-7:
                return True
        self.T, self.E = old_T, old_E
        return False

    def run(self, times, dt_min, dt_max):
        """Yield at each of the times (ns)."""
        now, dt = 0.0, dt_min
        for end in times:
            while now < end * (1.0 - 1e-12):
                h = min(dt, end - now)
                before = self.T
                if not self.step(now + h, h):
                    dt = h / 3.0
                    continue
                now += h
                change = max(abs(b - a) / max(b, a)
                             for a, b in zip(before, self.T))
                dt = min(dt_max, max(h, dt) * (1.2 if change < 0.3 else 0.8))
            yield end

    def front(self, level):
        """Where T falls through level, seen from the wall."""
        order = range(self.n) if self.m.geometry == 0 else range(
            self.n - 1, -1, -1)
        last = None
        for i in order:
            if last is not None and self.T[i] < level <= self.T[last]:
                part = (self.T[last] - level) / (self.T[last] - self.T[i])
                return self.x[last] + part * (self.x[i] - self.x[last])
            last = i
        return math.nan


def fronts(matter, cells, dt_max, times):
    """Where matter has 0.5 keV at the times: the first order of the error in cells
    and steps is removed by those of half as many. And x, and T and radiation
    temperature at each of the times."""
    found = []
    for n in (cells // 2, cells):
        wave = Wave(matter, n)
        steps = dt_max * cells / n
        found.append([])
        columns = []
        for _ in wave.run(times, 1e-7, steps):
            found[-1].append(wave.front(0.5))
            columns += [wave.T, [(E / A) ** 0.25 for E in wave.E]]
    return [2.0 * b - a for a, b in zip(*found)], wave.x, columns


def check(name, cells, dt_max):
    """Mean difference to the self-similar solution behind the front, and that of
    the place of 0.5 keV."""
    matter, front, rows = self_similar(name)
    place, places, (T, radiation) = fronts(Matter(**matter), cells, dt_max, [1.0])
    errors = []
    for i, x in enumerate(places):
        if x < 0.9 * front:
            theta, f = marshak.at(rows, x)
            errors += [abs(T[i] / theta - 1.0), abs(radiation[i] / f - 1.0)]
    mean = math.fsum(errors) / len(errors)
    half = marshak.place(rows, 0.5)
    off = place[0] / half - 1.0
    print(f"{name}, {cells} cells: mean difference {mean:.5f}, 0.5 keV at "
          f"{place[0]:.5f} of {half:.5f} cm, {100 * off:+.2f} %", flush=True)
    return max(mean, abs(off))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem", choices=[*PROBLEMS, "check"])
    parser.add_argument("--times", default="1")
    parser.add_argument("--cells", type=int, default=400)
    parser.add_argument("--dt-max", type=float, default=2e-3, help="ns")
    parser.add_argument("--every", type=int, default=5, help="cells to a row")
    options = parser.parse_args()
    if options.problem == "check":
        sys.exit(max(check(name, options.cells, options.dt_max)
                     for name in marshak.PROBLEMS) > 0.01)
    times = options.times.split(",")
    print(f"# {options.problem}, {options.cells} cells, steps up to "
          f"{options.dt_max:g} ns, computed by diffusion_wave.py")
    place, x, columns = fronts(Matter(**PROBLEMS[options.problem]), options.cells,
                               options.dt_max, [float(t) for t in times])
    for t, front in zip(times, place):
        print(f"# {t} ns: 0.5 keV at {front:.6f} cm")
    print("x_cm," + ",".join(f"material_{t}ns,radiation_{t}ns" for t in times))
    for i in range(options.every // 2, options.cells, options.every):
        print(f"{x[i]:.6g}," + ",".join(f"{c[i]:.5f}" for c in columns))


if __name__ == "__main__":
    main()
