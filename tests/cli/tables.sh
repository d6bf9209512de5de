#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan
#
# Matter from a table that examples/write_table.c writes: the same state on 1, 2,
# 3, 5 ranks and after a restart on another number of them; another table is
# another problem. What is beyond the table is one error that names value and
# range, before anything is written if the start is; so are files that are no
# tables.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

writer=$STORM_BUILD/examples/write_table
[ -x "$writer" ] || {
    echo "$writer is not there" >&2
    exit 77
}
"$writer" "$scratch/slab.h5" >"$scratch/said" ||
    fail "write_table: $(cat "$scratch/said")"
cat >"$scratch/deck.yaml" <<'DECK'
title: Slab from a table

mesh:
  box: {lo: [0, 0, 0], hi: [0.1, 1, 1]}
  cells: [40, 1, 1]

materials:
  - {name: slab, table: slab.h5, density: 0.5, temperature: 0.01}

boundaries:
  x_lo: {kind: blackbody, temperature: 0.8, packets: 500}
  y_lo: {kind: reflect}
  y_hi: {kind: reflect}
  z_lo: {kind: reflect}
  z_hi: {kind: reflect}

time: {dt: 5e-12, growth: 1.1, dt_max: 2e-11, steps: 8}
packets: {emit_per_cell: 5, min_per_cell: 2, max_per_cell: 15}
output: {every: 0, profile: {axis: x, bins: 40}}
DECK

state() {
    run run "$@" --json - --quiet
    [ "$status" -eq 0 ] || fail "$*: $(cat "$scratch/err")"
    hash=$(hash_of)
    [ -n "$hash" ] || fail "$*: no hash"
}

state "$scratch/deck.yaml" -n 1 --out "$scratch/one"
first=$hash
for n in 2 3 5; do
    state "$scratch/deck.yaml" -n "$n" --out "$scratch/several" --overwrite
    [ "$hash" = "$first" ] || fail "$n ranks: $hash, not $first"
done
state "$scratch/deck.yaml" -n 2 --out "$scratch/part" --set time.steps=3 \
    --set output.checkpoint.every=3
state --restart "$scratch/part" -n 3 --set time.steps=8
[ "$hash" = "$first" ] || fail "restarted: $hash, not $first"

# The number 10 after 1 in the list of densities becomes 11.
LC_ALL=C sed 's/\xf0\x3f......\x24\x40/\xf0\x3f\x0\x0\x0\x0\x0\x0\x26\x40/' \
    "$scratch/slab.h5" >"$scratch/other.h5"
cmp -s "$scratch/slab.h5" "$scratch/other.h5" && fail "other.h5 is slab.h5"
# other ARGS...: the checkpoint is that of another problem.
other() {
    run run --restart "$scratch/part" -n 2 --set time.steps=9 --quiet "$@"
    [ "$status" -eq 1 ] || fail "$*: exit status $status"
    [ "$(grep -c 'made with another choice of materials' "$scratch/err")" -eq 1 ] ||
        fail "$*: $(cat "$scratch/err")"
}
other --set materials.slab.table="$scratch/other.h5"
other --set materials.slab.table_beyond=edge
cp "$scratch/slab.h5" "$scratch/same.h5"
state --restart "$scratch/part" -n 2 --set time.steps=9 \
    --set materials.slab.table="$scratch/same.h5"

run plot "$scratch/one" --quiet
[ "$status" -eq 0 ] || fail "plot: $(cat "$scratch/err")"

# fails STATUS PATTERN ARGS...: one error, and no results of a bad file.
fails() {
    right=$1
    pattern=$2
    shift 2
    rm -rf "$scratch/bad"
    run run "$scratch/deck.yaml" --out "$scratch/bad" --quiet -n 3 "$@"
    [ "$status" -eq "$right" ] || fail "$*: exit status $status"
    [ "$(grep -c "error: .*$pattern" "$scratch/err")" -eq 1 ] ||
        fail "$*: $(cat "$scratch/err")"
    [ "$right" -eq 1 ] || [ ! -e "$scratch/bad" ] || fail "$*: left files"
}
fails 2 'materials.slab.temperature: 5e-05 is beyond the table .*slab.h5, which has 0.0001 to 10; .*.table_beyond: edge' \
    --set materials.slab.temperature=5e-5
fails 2 'materials.slab.density: 50 is beyond' --set materials.slab.density=50
fails 2 'materials.slab.density: 10.00[0-9]* at (0.00125, 0.5, 0.5) cm is beyond' \
    --set 'materials.slab.density="10+x"'
# Where the mesh is not known before, the run finds it; so does a later step.
fails 2 'cell [0-9]*: the density (g/cm3) is 10.*, beyond' \
    --set 'mesh={kind: octree, level: 2, box: {lo: [0,0,0], hi: [1,1,1]}}' \
    --set 'materials.slab.density="10+x"'
fails 1 'cell [0-9]*: the energy (erg/cm3) is .*, beyond the table .*slab.h5, which has' \
    --set materials.slab.temperature=9 --set boundaries.x_lo.temperature=200
state "$scratch/deck.yaml" -n 1 --out "$scratch/edge" \
    --set materials.slab.temperature=5e-5 --set materials.slab.table_beyond=edge
# A face to a wall of 20 keV has a temperature beyond the table, and so has what
# is taken for the heat of a wave: these are guesses. Matter stays below 10 keV.
state "$scratch/deck.yaml" -n 2 --out "$scratch/hot" --set time.steps=2 \
    --set boundaries.x_lo.temperature=20 --set time.dt=1e-17 \
    --set acceleration.method=auto
# A field with a value that is none, here a list of the table: its file, array and
# place; where cells are in no region, from the run.
LC_ALL=C sed 's/\xf0\x3f......\x24\x40/\xf0\x3f\x0\x0\x0\x0\x0\x0\x24\xc0/' \
    "$scratch/slab.h5" >"$scratch/minus.h5"
minus='fields={file: minus.h5, temperature: density}'
fails 2 'minus.h5: .density..2.: expected a number from 0 to 1e30, got -10$' \
    --set 'mesh.cells=[3,1,1]' --set "$minus"
fails 2 'minus.h5: .density. for cell 2: expected a number from 0 to 1e30, got -10$' \
    --set 'mesh.cells=[3,1,1]' --set "$minus" \
    --set 'regions=[{material: slab, shape: box, lo: [0,0,0], hi: [1,1,1]}]'
run check "$scratch/deck.yaml" --set 'mesh.cells=[3,1,1]' --set "$minus"
[ "$status" -eq 2 ] || fail "check of a wrong field: exit status $status"
fails 2 'none.h5: No such file' --set materials.slab.table=none.h5
fails 2 'deck.yaml: expected a table in HDF5' --set materials.slab.table=deck.yaml
head -c 1000 "$scratch/slab.h5" >"$scratch/cut.h5"
fails 2 'cut.h5: is damaged' --set materials.slab.table=cut.h5
run check "$scratch/deck.yaml" --set materials.slab.table=cut.h5
[ "$status" -eq 2 ] || fail "check of a damaged table: exit status $status"

finish
