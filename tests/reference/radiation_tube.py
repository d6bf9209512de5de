#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gas at rest between a hot and a cold end, held by radiation pressure.

    radiation_tube.py                                the profile as CSV
    radiation_tube.py --compare RUN.csv [--max ERROR]
    radiation_tube.py check                          the script by itself

As in M. R. Krumholz et al., Astrophys. J. 667 (2007) 626, section 4: optically thick,
in equilibrium, gas and radiation pressure balance at every place,

    d/dx (R rho T + a T^4 / 3) = 0,   F = -c / (3 kappa rho) d(a T^4)/dx = const.

The first gives rho(T), and then x(T) F = integral of 4 a c T^3 / (3 kappa rho) dT. Units: cm, s,
g, keV. Their gas (2.33 hydrogen masses a particle), density, temperature and length at
the hot end; kappa is 0.3 cm2/g here (100 there), so that packets can fly through.
"""
import argparse
import math
import sys

A, C = 1.3720172e14, 2.99792458e10
GAS = 1.602176634e-9 / (2.33 * 1.6735328e-24)  # erg/g/keV
KAPPA, LENGTH = 0.3, 128.0
RHO_HOT, T_HOT, T_COLD = 1.2, 2.37, 1.6
PRESSURE = GAS * RHO_HOT * T_HOT + A * T_HOT ** 4 / 3.0


def density(t):
    return (PRESSURE - A * t ** 4 / 3.0) / (GAS * t)


def profile(n=2000):
    """The flux, and rows x, rho, v, T, theta from the hot to the cold end."""
    def conductivity(t):
        return 4.0 * A * C * t ** 3 / (3.0 * KAPPA * density(t))

    step = (T_HOT - T_COLD) / n
    sums, temperatures = [0.0], [T_HOT]
    for i in range(n):  # Simpson
        t = T_HOT - i * step
        sums.append(sums[-1] + step / 6.0 * (conductivity(t) + conductivity(t - step)
                                            + 4.0 * conductivity(t - 0.5 * step)))
        temperatures.append(t - step)
    flux = sums[-1] / LENGTH
    return flux, [(s / flux, density(t), 0.0, t, t) for s, t in zip(sums, temperatures)]


def check():
    """The same by equal steps in x from the hot end (midpoint rule), and the force on
    the gas against the gradient of its pressure."""
    flux, rows = profile()
    t, n = T_HOT, 100000

    def slope(t):
        return -3.0 * KAPPA * density(t) * flux / (4.0 * A * C * t ** 3)

    for _ in range(n):
        t += LENGTH / n * slope(t + 0.5 * LENGTH / n * slope(t))
    worst = 0.0
    for p, q in zip(rows, rows[2:]):
        gradient = GAS * (q[1] * q[3] - p[1] * p[3]) / (q[0] - p[0])
        force = KAPPA * 0.5 * (p[1] + q[1]) * flux / C
        worst = max(worst, abs(gradient / force - 1.0))
    depth = math.fsum(0.5 * KAPPA * (p[1] + q[1]) * (q[0] - p[0])
                      for p, q in zip(rows, rows[1:]))
    print(f"flux {flux:.6g} erg/cm2/s, {depth:.4g} mean free paths, density "
          f"{RHO_HOT} .. {rows[-1][1]:.5g} g/cm3, gas pressure "
          f"{GAS * RHO_HOT * T_HOT / PRESSURE:.4g} .. "
          f"{GAS * rows[-1][1] * T_COLD / PRESSURE:.4g} of the whole; cold end "
          f"{abs(t / T_COLD - 1.0):.0e}, forces {worst:.0e}")
    return abs(t / T_COLD - 1.0) < 1e-7 and worst < 1e-5


def at(rows, x, column):
    """Linear in between."""
    i = next((i for i in range(1, len(rows)) if rows[i][0] >= x), len(rows) - 1)
    p, q = rows[i - 1], rows[i]
    return p[column] + (x - p[0]) / (q[0] - p[0]) * (q[column] - p[column])


def compare(options):
    """Mean and largest relative errors without the beds, and how fast the gas is."""
    with open(options.compare, encoding="utf-8") as file:
        names, *lines = [line.strip().split(",") for line in file]
    run = [dict(zip(names, map(float, line))) for line in lines]
    bed = len(run) // 20
    run = run[bed:-bed]
    rows, worst = profile()[1], 0.0
    for name, column in (("rho", 1), ("t", 3), ("theta", 4)):
        errors = [(abs(r[name] / at(rows, r["x"], column) - 1.0), r["x"]) for r in run]
        mean, (most, where) = math.fsum(e for e, _ in errors) / len(run), max(errors)
        print(f"{name}: mean {100 * mean:.2f} %, largest {100 * most:.2f} % at {where:.4g}")
        worst = max(worst, mean)
    pressures = [GAS * r["rho"] * r["t"] + A * r["theta"] ** 4 / 3.0 for r in run]

    def speed(column):
        """Root mean square over the cells, relative to that of sound."""
        squares = [r[column] ** 2 / (5.0 / 3.0 * GAS * r["t"]) for r in run]
        return math.sqrt(math.fsum(squares) / len(run))

    print(f"pressure {100 * (min(pressures) / PRESSURE - 1.0):+.2f} .. "
          f"{100 * (max(pressures) / PRESSURE - 1.0):+.2f} %; velocity over that of "
          f"sound: {speed('v_rms'):.1e}, of its means over time {speed('v'):.1e}")
    return worst <= options.max


def write():
    print("# radiation-pressure tube, computed by radiation_tube.py")
    for name, value in (("light", C), ("radiation", A), ("gas", GAS),
                        ("absorption", KAPPA), ("scattering", 0.0),
                        ("opacity_by_density", 1.0)):
        print(f"# {name} {value:.9g}")
    print("x,rho,v,t,theta")
    for row in profile(400)[1]:
        print(",".join(f"{value:.9g}" for value in row))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("check", nargs="?", choices=["check"])
    parser.add_argument("--compare")
    parser.add_argument("--max", type=float, default=0.02)
    options = parser.parse_args()
    if options.check:
        sys.exit(0 if check() else 1)
    if options.compare:
        sys.exit(0 if compare(options) else 1)
    write()


main()
