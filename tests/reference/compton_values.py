#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Means over thermal electrons, by quadrature, for tests/physics/compton_draw.c.

    compton_values.py

prints rows of that test: temperature and photon energy (keV); the mean kinetic energy
of electrons over that at rest, 3 theta + K1(1/theta) / K2(1/theta) - 1; the mean cross
section of Klein and Nishina over that of Thomson, weighted with 1 - n.beta; and the mean
energy of a photon after a collision over that before. K_n are integrals of
exp(-cosh(t) / theta) cosh(n t), by the trapezoidal rule, which converges faster than any
power of its step; angles are integrated by Gauss and Legendre. The cross section for
electrons at rest is compared with the closed formula: the largest difference is printed
last.
"""
import math

REST_KEV = 510.99895


def legendre(n):
    """Nodes and weights on -1 .. 1."""
    rows = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(100):
            p, q = 1.0, 0.0
            for k in range(n):
                p, q = ((2 * k + 1) * x * p - k * q) / (k + 1), p
            slope = n * (x * p - q) / (x * x - 1.0)
            x -= p / slope
            if abs(p / slope) < 1e-16:
                break
        rows.append((x, 2.0 / ((1.0 - x * x) * slope * slope)))
    return rows


MU, COSINE = legendre(40), legendre(96)


def electrons(theta):
    """gamma and its probability, at even steps of the rapidity."""
    end = math.acosh(1.0 + 60.0 * theta)
    n = 160
    rows = []
    for i in range(1, n):
        t = end * i / n
        gamma = math.cosh(t)
        rows.append((gamma, gamma * math.sinh(t) ** 2
                     * math.exp(-2.0 * math.sinh(t / 2) ** 2 / theta)))
    total = sum(w for _, w in rows)
    return [(g, w / total) for g, w in rows]


def kinetic(theta):
    end = math.acosh(1.0 + 60.0 * theta)
    n = 4000
    k1 = k2 = 0.0
    for i in range(n + 1):
        t = end * i / n
        weight = math.exp(-2.0 * math.sinh(t / 2) ** 2 / theta) * (0.5 if i == 0 else 1)
        k1 += weight * math.cosh(t)
        k2 += weight * math.cosh(2 * t)
    return 3.0 * theta + k1 / k2 - 1.0


def collision(x):
    """Of a photon of x rest energies at an electron at rest: integrals over the
    cosine c of the cross section over Thomson's, times 1, e and e c, where e is the
    energy after over that before."""
    sums = [0.0, 0.0, 0.0]
    for c, w in COSINE:
        e = 1.0 / (1.0 + x * (1.0 - c))
        s = w * 0.375 * e * e * (e + 1.0 / e - 1.0 + c * c)
        sums = [sums[0] + s, sums[1] + s * e, sums[2] + s * e * c]
    return sums


def closed(x):
    """Klein and Nishina over Thomson, for x of 0.01 or more."""
    log = math.log1p(2.0 * x)
    return 0.75 * ((1.0 + x) / x ** 3 * (2.0 * x * (1.0 + x) / (1.0 + 2.0 * x) - log)
                   + log / (2.0 * x) - (1.0 + 3.0 * x) / (1.0 + 2.0 * x) ** 2)


def means(kev, energy):
    x, section, after = energy / REST_KEV, 0.0, 0.0
    for gamma, p in electrons(kev / REST_KEV):
        beta = math.sqrt(1.0 - 1.0 / gamma ** 2)
        for mu, w in MU:
            doppler = gamma * (1.0 - beta * mu)
            s, e, ec = collision(x * doppler)
            met = p * w * 0.5 * (1.0 - beta * mu)
            mu1 = (mu - beta) / (1.0 - beta * mu)
            section += met * s
            after += met * doppler * gamma * (e + beta * mu1 * ec)
    return section, after / section


def main():
    for kev, energy in ((1e-3, 1e-3), (1.0, 1.0), (1.0, 10.0), (10.0, 1.0),
                        (50.0, 200.0), (200.0, 1.0), (500.0, 500.0)):
        section, after = means(kev, energy)
        print(f"    {{{kev:g}, {energy:g}, {kinetic(kev / REST_KEV):.12g}, "
              f"{section:.12g}, {after:.12g}}},")
    worst = max(abs(collision(x)[0] / closed(x) - 1.0)
                for x in (0.02, 0.1, 0.5, 1.0, 2.0, 5.0))
    print(f"closed formula: {worst:.1e}")


main()
