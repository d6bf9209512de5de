#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-asan slow-mpich
#
# Profiles: bins by layers of cells and by a list of edges; the material
# temperature averages cells with a heat capacity only, and each material has a
# column of its own; `nan` where there is none. The state before the first step shows it exactly.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

cat >"$scratch/layers.yaml" <<'END'
title: Layers
mesh: {edges: {x: [0, 0.25, 0.5, 2], z: [-1, 0, 1]}}
materials:
  - {name: warm, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.5}
  - {name: cold, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.25}
  - {name: "held, 1", absorption: {coef: 1}, temperature: 0.125}
regions:
  - {material: warm, shape: box, lo: [0, 0, -1], hi: [0.5, 1, 1]}
  - {material: cold, shape: box, lo: [0.25, 0, 0], hi: [0.5, 1, 1]}
  - {material: "held, 1", shape: box, lo: [0.25, 0, 0], hi: [2, 1, 1]}
time: {steps: 2}
output: {profile: {bins: cells}}
END

# columns FILE: position, temperatures by material and of all, volume.
columns() {
    tail -n +2 "$1" | cut -d, -f1,2,6-
}

# profile FILE ARGS...: what columns prints, of step 0.
profile() {
    rm -rf "$scratch/new"
    run run "$scratch/layers.yaml" --quiet --out "$scratch/new" "$@"
    [ "$status" -eq 0 ] || fail "$*: $(cat "$scratch/err")"
    columns "$scratch/new/profile-0.csv" >"$scratch/got"
    head -n 1 "$scratch/new/profile-0.csv" |
        grep -q "^# time 0 from 0 s; means by volume, of material_temperature \
over cells with a heat capacity; position cm," ||
        fail "the first line: $(head -n 1 "$scratch/new/profile-0.csv")"
    diff "$scratch/want" "$scratch/got" >"$scratch/diff" ||
        fail "$*: $(cat "$scratch/diff")"
}

# 0.25 .. 0.5: below z = 0 warm, above it held; 0.5 .. 2: empty and held.
cat >"$scratch/want" <<'END'
position,material_temperature,volume,material_temperature_warm,material_temperature_cold,material_temperature_held__1
0.125,0.5,0.5,0.5,nan,nan
0.375,0.5,0.5,0.5,nan,0.125
1.25,nan,3,nan,nan,0.125
END
profile -n 1
profile -n 3
mv "$scratch/new/profile-2.csv" "$scratch/last.csv"
profile -n 2
cmp -s "$scratch/last.csv" "$scratch/new/profile-2.csv" ||
    fail "the profile depends on the number of ranks"

# Two halves of the first layer and part of the last: the rest is left out.
cat >"$scratch/want" <<'END'
position,material_temperature,volume,material_temperature_warm,material_temperature_cold,material_temperature_held__1
0.0625,0.5,0.25,0.5,nan,nan
0.1875,0.5,0.25,0.5,nan,nan
0.625,0.5,1.5,0.5,nan,0.125
END
sed -i 's/bins: cells/edges: [0, 0.125, 0.25, 1]/' "$scratch/layers.yaml"
profile -n 2

# Matter of two kinds in one bin: by volume.
sed -i 's/^  - {material: "held.*//' "$scratch/layers.yaml"
cat >"$scratch/want" <<'END'
position,material_temperature,volume,material_temperature_warm,material_temperature_cold,material_temperature_held__1
0.375,0.375,0.5,0.5,0.25,nan
END
sed -i 's/edges: \[0, 0.125, 0.25, 1\]/edges: [0.25, 0.5]/' "$scratch/layers.yaml"
profile -n 2

finish
