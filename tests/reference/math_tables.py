#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write src/base/math_tables.h: the numbers that src/base/math.h computes with.

    tests/reference/math_tables.py          print the header
    tests/reference/math_tables.py --check  compare it with the one in the tree

Decimal arithmetic of 60 digits, no library: the output is the same anywhere.
"""
import sys
from decimal import Decimal as D, getcontext
from fractions import Fraction as F
from pathlib import Path

getcontext().prec = 60
LN2 = D(2).ln()

EXP_STEPS = 128  # 2^(i/128)
LOG_STEPS = 128  # intervals of z, see log_rows
LOG_FIRST = 0x3FE6100000000000  # bits of the lower end of the first interval
LOG_INV_UNIT = 2048  # 1/c is a multiple of this part of 1
LOG_HIGH_UNIT = D(2) ** -42  # high parts of logarithms are multiples of this


def double(x):
    """The double nearest to a Decimal or Fraction."""
    x = F(x)
    return x.numerator / x.denominator


def exact(x):
    return D(x)  # a double, all its digits


def series(x, first, k):
    """x^k/k! - x^(k+2)/(k+2)! + ..., from the term `first`."""
    term, total = first, D(0)
    while abs(term) > D(10) ** -58:
        total += term
        term *= -x * x / ((k + 1) * (k + 2))
        k += 2
    return total


def cos(x):
    return series(x, D(1), 0)


def sin(x):
    return series(x, x, 1)


def pi():
    """Machin's formula."""
    def atan_inverse(n):
        total, power, k = D(0), D(1) / n, 0
        while power > D(10) ** -58:
            total += (-1) ** k * power / (2 * k + 1)
            power /= n * n
            k += 1
        return total
    return 16 * atan_inverse(5) - 4 * atan_inverse(239)


PI = pi()


def high_bits(x, bits):
    """x > 0 cut to its first bits."""
    unit = D(1)
    while x < unit:
        unit /= 2
    while x >= 2 * unit:
        unit *= 2
    unit /= D(2) ** (bits - 1)
    return (x / unit).to_integral_value(rounding="ROUND_DOWN") * unit


def exp_rows():
    """2^(i/128) as a double h, and t so that it is h (1 + t)."""
    for i in range(EXP_STEPS):
        value = (LN2 * i / EXP_STEPS).exp()
        h = double(value)
        yield h, double(value / exact(h) - 1)


def log_rows():
    """1/c near the middle of each interval, and log(c) in two parts.

    The intervals are equally long in the bits of z, from 0.6885 to 1.377; one
    has 1 in it, where c is 1."""
    import struct
    step = (1 << 52) // LOG_STEPS
    for i in range(LOG_STEPS):
        ends = [struct.unpack("<d", struct.pack("<Q", LOG_FIRST + j * step))[0]
                for j in (i, i + 1)]
        middle = (exact(ends[0]) + exact(ends[1])) / 2
        if ends[0] < 1.0 < ends[1]:
            middle = D(1)
        inverse = (LOG_INV_UNIT / middle).to_integral_value() / LOG_INV_UNIT
        log_c = -inverse.ln()
        high = (log_c / LOG_HIGH_UNIT).to_integral_value() * LOG_HIGH_UNIT
        yield double(inverse), double(high), double(log_c - high)


def fit(function, lo, hi, n):
    """Polynomial of n coefficients through the Chebyshev points of [lo, hi]."""
    xs = []
    for k in range(n):
        t = cos(PI * (2 * k + 1) / (2 * n))
        xs.append((lo + hi) / 2 + (hi - lo) / 2 * t)
    rows = [[x ** j for j in range(n)] + [function(x)] for x in xs]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                f = rows[r][i] / rows[i][i]
                rows[r] = [a - f * b for a, b in zip(rows[r], rows[i])]
    return [double(rows[i][n] / rows[i][i]) for i in range(n)]


def sin_rest(q):
    """(sin(a)/f - pi/2) / q with a = f pi/2, q = f^2."""
    f = q.sqrt()
    return (sin(f * PI / 2) / f - PI / 2) / q


def fit_sin():
    """The first coefficient rounded, the others so that they make up for it;
    the last one 3e-13 larger, which moves the sine of an eighth of a turn by
    0.08 units of its last place to where it rounds as the cosine does."""
    first = double(-PI ** 3 / 48)
    others = fit(lambda q: (sin_rest(q) - exact(first)) / q, D(0), D(1) / 4, 6)
    return [first] + others[:-1] + [others[-1] + 3e-13]


def cos_rest(q):
    f = q.sqrt()
    return (cos(f * PI / 2) - 1 + PI * PI / 8 * q) / (q * q)


def log_rest(r):
    """(log(1 + r) - r) / r^2"""
    if abs(r) < D(10) ** -20:
        return D(-1) / 2 + r / 3
    return ((1 + r).ln() - r) / (r * r)


def cube_root(x):
    return (x.ln() / 3).exp()


def emit(out, name, rows, what):
    width = len(rows[0])
    size = f"[{len(rows)}]" + (f"[{width}]" if width > 1 else "")
    out.append(f"\n/* {what} */")
    out.append(f"static const double storm_math_{name}{size} = {{")
    for row in rows:
        text = ", ".join(float.hex(v) for v in row)
        out.append(f"    {{{text}}}," if width > 1 else f"    {text},")
    out.append("};")


def constant(out, name, value):
    out.append(f"#define STORM_MATH_{name} {float.hex(double(value))}")


def header():
    out = ["/* SPDX-License-Identifier: BSD-3-Clause */",
           "/* Numbers of base/math.h. Written by "
           "tests/reference/math_tables.py. */",
           "/* clang-format off */",
           "#ifndef STORM_BASE_MATH_TABLES_H",
           "#define STORM_BASE_MATH_TABLES_H",
           ""]
    out.append("/* Parts of log(2)/128: 35 bits and the rest. */")
    high = high_bits(LN2 / EXP_STEPS, 35)
    constant(out, "EXP_PER_LN2", EXP_STEPS / LN2)
    constant(out, "EXP_LN2_HIGH", high)
    constant(out, "EXP_LN2_LOW", LN2 / EXP_STEPS - high)
    out.append("\n/* log(2) in parts: a multiple of 2^-42 and the rest. */")
    high = (LN2 / LOG_HIGH_UNIT).to_integral_value() * LOG_HIGH_UNIT
    constant(out, "LN2_HIGH", high)
    constant(out, "LN2_LOW", LN2 - high)
    out.append(f"#define STORM_MATH_LOG_FIRST UINT64_C(0x{LOG_FIRST:016x})")
    out.append("\n/* pi/2 and pi^2/8, whole and in parts: 26 bits and the "
               "rest. */")
    for name, value in (("QUARTER", PI / 2), ("SQUARE", PI * PI / 8)):
        high = high_bits(value, 26)
        constant(out, name, value)
        constant(out, name + "_HIGH", high)
        constant(out, name + "_LOW", value - high)

    emit(out, "exp_steps", list(exp_rows()),
         "2^(i/128) = h (1 + t): h, t")
    emit(out, "log_steps", list(log_rows()),
         "1/c, and log(c) in parts as log(2)")
    reach = D("0.0041")  # of r in log_rows
    emit(out, "log", [[c] for c in fit(log_rest, -reach, reach, 6)],
         "(log(1 + r) - r)/r^2 by powers of r")
    quarter = D(1) / 4
    out.append("")
    sines, cosines = fit_sin(), fit(cos_rest, D(0), quarter, 6)
    constant(out, "SIN_FIRST", sines[0])
    emit(out, "cos_sin", list(zip(cosines, sines[1:])),
         "(cos(a) - 1 + q pi^2/8)/q^2 and (sin(a)/f - pi/2 - SIN_FIRST q)/q^2\n"
         " * by powers of q; a = f pi/2, q = f^2 <= 1/4")
    emit(out, "cbrt", [[c] for c in fit(cube_root, D(1), D(2), 6)],
         "Cube root of 1 to 2, to 2^-17.")
    emit(out, "cbrt_steps", [[double(cube_root(D(2) ** i))] for i in range(3)],
         "2^(i/3)")
    out.append("\n/* clang-format on */")
    out.append("#endif /* STORM_BASE_MATH_TABLES_H */")
    return "\n".join(out) + "\n"


def main():
    text = header()
    if sys.argv[1:] == ["--check"]:
        path = Path(__file__).parents[2] / "src/base/math_tables.h"
        if path.read_text() != text:
            sys.exit(f"{path} differs from what {sys.argv[0]} writes")
    else:
        sys.stdout.write(text)


main()
