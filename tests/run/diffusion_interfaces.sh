#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 900; label: long mpi slow-asan slow-mpich
#
# Faces between cells in which packets diffuse and such where they fly, against
# transport: matter that scatters effectively (its heat capacity is small), grey
# and with 30 groups, of which the softer ones diffuse. What leaves a half-space
# by its angle and group; what of the radiation of a blackbody is sent back; what
# comes through; in cells of equal width and in such that grow. Within 3 standard
# errors, from 8 replicas, and what diffusion itself is off: 1 %, for angles and
# groups 3 % (p(mu) ~ mu (1 + 3/2 mu) instead of Milne's).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
need_python

# The deck of a slab with these widths of its cells: an empty cell before it, a
# blackbody of 1 keV there and vacuum behind; it starts at the temperatures that
# it will keep.
cat >"$scratch/deck.py" <<'PYTHON'
import sys

coef, exponent = float(sys.argv[1]), float(sys.argv[2])
edges = [0, 0.1]
for width in sys.argv[3:]:
    edges.append(round(edges[-1] + float(width), 9))
thick = coef * (edges[-1] - 0.1)
print("""title: slab
mesh:
  box: {lo: [0, 0, 0], hi: [%r, 1, 1]}
  cells: [%d, 1, 1]
  edges: {x: %r}
boundaries:
  x_lo: {kind: blackbody, temperature: 1, packets: 1000}
  y_lo: {kind: reflect}
  y_hi: {kind: reflect}
  z_lo: {kind: reflect}
  z_hi: {kind: reflect}
time: {dt: 1e-10, steps: 30}
packets: {emit_per_cell: 20, min_per_cell: 20, max_per_cell: 120}
output:
  every: 0
  profile: {bins: cells}
  tallies:
    - {name: wall, by: [wall, time], time_edges: [1e-9, 3.1e-9]}
    - {name: angle, by: [wall, time, direction], time_edges: [1e-9, 3.1e-9],
       towards: [1, 0, 0], mu_bins: 8}
    - {name: group, by: [wall, time, group], time_edges: [1e-9, 3.1e-9]}
materials:""" % (edges[-1], len(edges) - 1, edges))
cells = list(zip(edges[1:], edges[2:]))
for n, (lo, hi) in enumerate(cells):
    behind = coef * (edges[-1] - 0.5 * (lo + hi))
    kev = ((behind + 0.7104) / (thick + 1.4208)) ** 0.25
    print("""  - name: slab-%d
    absorption: {coef: %r, E_exp: %r}
    heat_capacity: {coef: 1e12}
    temperature: %r
    radiation_temperature: %r""" % (n, coef, exponent, kev, kev))
print("regions:")
for n, (lo, hi) in enumerate(cells):
    print("  - {material: slab-%d, shape: box, lo: [%r, 0, 0], hi: [%r, 1, 1]}"
          % (n, lo, hi))
if exponent != 0:
    print("groups: {count: 30, min: 0.1, max: 20}")
PYTHON

cat >"$scratch/compare.py" <<'PYTHON'
import csv, math, sys

name, flown, hops = sys.argv[1:4]
bad = []


def rows(folder, file):
    with open(folder + "/" + file) as lines:
        return list(csv.DictReader(x for x in lines if x[0] != "#"))


# of a table: the columns that say which row it is, the value, what diffusion may
# be off; rows with less than `least` of the largest are noise.
def compare(file, keys, value, off, least=0.0):
    pairs = list(zip(rows(flown, file), rows(hops, file)))
    largest = max(float(a[value]) for a, b in pairs)
    worst, n = 0.0, 0
    for a, b in pairs:
        x, y = float(a[value]), float(b[value])
        if x <= least * largest or a.get("time_from", "1e-09") != "1e-09":
            continue
        e = math.hypot(float(a[value + "_error"]), float(b[value + "_error"]))
        n += 1
        worst = max(worst, abs(y - x) / (3 * e + off * x))
        if abs(y - x) > 3 * e + off * x:
            bad.append("%s %s: %.4g, transport %.4g +- %.2g"
                       % (file, [a[k] for k in keys], y, x, e))
    print("%s: %s: %d values, worst %.2f of what is allowed" %
          (name, file, n, worst))
    assert n >= 2


compare("tally-wall.csv", ["wall"], "energy", 0.01)
compare("tally-angle.csv", ["wall", "mu_from"], "energy", 0.03)
if "group_from" in rows(flown, "tally-group.csv")[0]:
    compare("tally-group.csv", ["wall", "group_from"], "energy", 0.03, 0.05)
compare("profile-30.csv", ["position"], "radiation_energy", 0.01)
print("\n".join(bad), file=sys.stderr)
sys.exit(1 if bad else 0)
PYTHON

# same NAME OPACITY EXPONENT WIDTHS...: transport and auto agree, and packets do
# both.
same() {
    name=$1
    shift
    python3 "$scratch/deck.py" "$@" >"$scratch/$name.yaml" || fail "$name: deck"
    for method in none auto; do
        run run "$scratch/$name.yaml" --set "acceleration.method=$method" \
            --replicas 8 --json - --quiet --out "$scratch/$name-$method"
        [ "$status" -eq 0 ] || fail "$name, $method: $(cat "$scratch/err")"
    done
    awk '$1 == "\"diffused\":" { inside = 1 }
        inside && $1 == "\"energy\":" { share = $2 + 0; inside = 0 }
        END { exit !(share > 0.3 && share < 0.95) }' "$scratch/out" ||
        fail "$name: $(sed -n '/"methods"/,/^  }/p' "$scratch/out")"
    python3 "$scratch/compare.py" "$name" "$scratch/$name-none" \
        "$scratch/$name-auto" || fail "$name: not as transport"
}

same grey 60 0 0.2 0.2 0.2
same graded 110 0 0.1 0.1 0.2 0.3
same graded-groups 150 -0.3 0.1 0.1 0.2 0.3
# Groups that fly are nearly as thick as those that diffuse: eq. (D11).
same few-groups 160 -0.3 0.1 0.1 0.1 0.1 0.1 0.1
finish
