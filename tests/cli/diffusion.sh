#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan slow-mpich
# TEST args: all; timeout: 1800; label: long mpi slow-asan slow-mpich
#
# acceleration.method: auto. Groups of thick cells diffuse while others fly or
# walk, in a Voronoi mesh that moves, so that packets are remapped in every
# step: the state and the shares of the methods are the same on 1, 2, 3, 5 and 8
# ranks, over every backend, with any balance of work, with a partition of the
# host's after every step, and after a restart on other ranks; energy balances
# in every step. The summary has the shares of methods where there are several.
# Where cells cannot diffuse, as next to hanging faces of an octree, packets fly
# or walk, and that is said once.
#
# With `all`: on each of these numbers of ranks over each backend, on that mesh,
# on boxes (grey) and on an octree; restarted on each; with steps by accuracy.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
# shellcheck source-path=SCRIPTDIR source=same_bits.sh
. "$here/same_bits.sh"
need_python

cat >"$scratch/drop.yaml" <<END
title: drop
mesh:
  kind: voronoi
  box: {lo: [0, 0, 0], hi: [1, 1, 0.25]}
  points: 160
  lloyd: 1
  motion: {kind: vortex, axis: z, rate: 3e9}
materials:
  - name: gas
    absorption: {coef: 0.5}
    heat_capacity: {coef: 1e14}
    temperature: 0.3
  - name: drop
    absorption: {coef: 2000, E_exp: -3}
    scattering: {coef: 100}
    heat_capacity: {coef: 1e14, T_exp: 2}
    temperature: 0.6
groups: {count: 8, min: 0.1, max: 20}
regions:
  - {material: gas, shape: all}
  - {material: drop, shape: cylinder, axis: z, centre: [0.6, 0.5], radius: [0, 0.3]}
boundaries:
  x_lo: {kind: blackbody, temperature: 1, packets: 100}
  y_lo: {kind: reflect}
  y_hi: {kind: reflect}
  z_lo: {kind: periodic}
  z_hi: {kind: periodic}
time: {dt: 2e-11, steps: 6}
packets: {emit_per_cell: 3, min_per_cell: 1, max_per_cell: 8}
acceleration: {method: auto}
output: {every: 0, profile: {bins: 0}}
END

deck=$scratch/drop.yaml
sets=

# same ARGS...: with $sets, and the same methods.
same() {
    rm -rf "$scratch/new"
    # shellcheck disable=SC2086
    run run "$deck" --quiet --json - --out "$scratch/new" $sets "$@"
    look "$sets $*" "$scratch/new"
    sed -n '/"methods"/,/^  }/p' "$scratch/out" >"$scratch/methods"
    [ -e "$scratch/methods-right" ] ||
        cp "$scratch/methods" "$scratch/methods-right"
    cmp -s "$scratch/methods" "$scratch/methods-right" ||
        fail "$*: other methods: $(cat "$scratch/methods")"
}

# another SETS...: what follows is with these.
another() {
    sets=$*
    right=
    rm -f "$scratch/methods-right"
}
boxes="--set mesh.motion.kind=none --set mesh.kind=cartesian
    --set mesh.cells=[8,8,2] --set groups.count=1
    --set materials.drop.absorption.E_exp=0"
octree="--set mesh.motion.kind=none --set mesh.kind=octree
    --set mesh.roots=[4,4,1] --set mesh.level=1 --set mesh.refine_levels=1"

if [ "${1:-}" = all ]; then
    for mesh in "" "$boxes" "$octree"; do
        another "$mesh"
        every
        restarted "1 2 3 5 8"
    done
    another --set time.control=accuracy --set time.dt=2e-12
    every
    restarted "1 2 3 5 8"
    finish
fi

right=
same -n 1
python3 - "$scratch/out" <<'PYTHON' || fail "methods: $(cat "$scratch/out")"
import json, sys

top = json.load(open(sys.argv[1]))
methods = top["methods"]
assert sorted(methods) == ["diffused", "flown", "walked"], methods
for share in methods.values():
    assert sorted(share) == ["energy", "events", "packets"], share
energy = {name: share["energy"] for name, share in methods.items()}
assert abs(sum(energy.values()) - 1) < 1e-9, energy
assert energy["diffused"] > 0.1 and energy["flown"] > 0.1, energy
assert sum(s["events"] for s in methods.values()) == top["steps"], methods
assert methods["diffused"]["packets"] > 0 < methods["flown"]["packets"]
assert methods["walked"]["packets"] == 0
assert (sum(s["packets"] for s in methods.values())
        == top["packets_census"]), methods
PYTHON
some
restarted 5

another "$octree"
# warned TIMES REST...: with $sets this many warnings, with that at their end.
warned() {
    # shellcheck disable=SC2086
    run run "$deck" --out "$scratch/new" --overwrite -n 2 $sets
    [ "$(grep -c 'packets do not diffuse in [0-9]* of [0-9]* cells: .*'"$2" \
        "$scratch/err")" -eq "$1" ] || fail "$sets: $(cat "$scratch/err")"
}
warned 1 "packets fly or walk there"
sets="$sets --set acceleration.method=ddmc"
warned 1 "packets fly there"
sets=
warned 0 ""

# The report has them, too; without acceleration there is one method alone.
run run "$scratch/drop.yaml" --set time.steps=1 --out "$scratch/said"
grep -q '^  methods     energy: [0-9.]* % flown, [0-9.]* % walked, [0-9.]* % dif' \
    "$scratch/out" || fail "no methods in the report: $(cat "$scratch/out")"
run run "$scratch/drop.yaml" --set time.steps=1 --json - --quiet \
    --set acceleration.method=none --out "$scratch/none"
grep -q '"methods"' "$scratch/out" && fail "none: has methods"
for method in random_walk ddmc; do
    run run "$scratch/drop.yaml" --set time.steps=1 --json - --quiet \
        --set "acceleration.method=$method" --out "$scratch/$method"
    unused=diffused
    [ "$method" = random_walk ] || unused=walked
    awk -v unused="\"$unused\"" '$1 == unused ":" { inside = 1 }
        inside && /"events": 0,/ { found = 1 }
        /}/ { inside = 0 }
        END { exit !found }' "$scratch/out" ||
        fail "$method: $unused: $(sed -n '/"methods"/,/^  }/p' "$scratch/out")"
done
finish
