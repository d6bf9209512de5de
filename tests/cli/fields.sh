#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan
#
# A dump of a finished run as the start of another, by cell: its temperatures are
# those of step 0 there, and the state is the same on 1, 2, 3, 5 ranks. Files that
# do not fit are one error on all ranks. (By position: run/matter_files.) All
# replicas of a job begin with the file, and it must not change (JOB-1, JOB-4).
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

cat >"$scratch/deck.yaml" <<'DECK'
title: fields
mesh: {box: {lo: [0, 0, 0], hi: [0.6, 1, 1]}, cells: [12, 2, 1]}
materials:
  - name: slab
    absorption: {coef: 30, T_exp: -1}
    heat_capacity: {coef: 1e15}
    temperature: 1e-2
boundaries: {x_lo: {kind: blackbody, temperature: 1, packets: 300}}
time: {dt: 1e-11, steps: 5}
packets: {emit_per_cell: 4, min_per_cell: 1, max_per_cell: 15}
output: {every: 0, profile: {bins: 12}}
DECK

state() {
    run run "$scratch/deck.yaml" --json - --quiet "$@"
    [ "$status" -eq 0 ] || fail "$*: $(cat "$scratch/err")"
    hash=$(hash_of)
    [ -n "$hash" ] || fail "$*: no hash"
}

# column FILE: the temperatures of matter in a profile.
column() {
    sed '1,2d' "$1" | cut -d, -f2
}

state -n 2 --out "$scratch/first"
dump=$(echo "$scratch"/first/fields-*5.h5)
[ -f "$dump" ] || fail "no dump of step 5: $(ls "$scratch/first")"
fields="fields={file: $dump, temperature: material_temperature,
 radiation_temperature: radiation_temperature}"
first=
for n in 1 2 3 5; do
    state -n "$n" --out "$scratch/next" --overwrite --set "$fields"
    : "${first:=$hash}"
    [ "$hash" = "$first" ] || fail "$n ranks: $hash, not $first"
done
column "$(echo "$scratch"/first/profile-*5.csv)" >"$scratch/end"
column "$(echo "$scratch"/next/profile-*0.csv)" >"$scratch/start"
[ -s "$scratch/start" ] || fail "there is no profile of the start"
cmp -s "$scratch/end" "$scratch/start" ||
    paste "$scratch/end" "$scratch/start" | awk '
        { off = $1 - $2; if (off < 0) off = -off }
        off > 1e-12 * $1 { exit 1 }' ||
    fail "the start is not the end: $(paste "$scratch/end" "$scratch/start")"
state -n 2 --out "$scratch/plain"
[ "$hash" != "$first" ] || fail "the file does not matter"

# fails STATUS PATTERN ARGS...: one error on three ranks.
fails() {
    right=$1 pattern=$2
    shift 2
    run run "$scratch/deck.yaml" --quiet -n 3 --overwrite --out "$scratch/bad" "$@"
    [ "$status" -eq "$right" ] || fail "$*: exit status $status"
    [ "$(grep -c "error: .*$pattern" "$scratch/err")" -eq 1 ] ||
        fail "$*: $(cat "$scratch/err")"
}
fails 2 'expected 12 rows, as there are cells, got 24' --set "$fields" \
    --set 'mesh.cells=[12,1,1]'
fails 2 'expected 8 rows, as there are cells, got 24' --set "$fields" \
    --set 'mesh={kind: octree, level: 1, box: {lo: [0,0,0], hi: [1,1,1]}}'
fails 2 '.nothing.: there is no list of numbers of this name' \
    --set "fields={file: $dump, temperature: nothing}"
fails 2 '.position.: expected an array of n x 3' \
    --set "fields={file: $dump, by: position, temperature: material_temperature}"
fails 2 'none.h5: .*No such file' --set 'fields={file: none.h5, temperature: x}'
fails 2 'the file is damaged, or not HDF5' \
    --set 'fields={file: deck.yaml, temperature: x}'

# The second replica is the run with the next seed, also of a job that goes on.
job() {
    run run "$@" --quiet --json - -n 2
}
cp "$dump" "$scratch/start.h5"
fields="fields={file: $scratch/start.h5, temperature: material_temperature}"
state -n 1 --out "$scratch/seed8" --seed 8 --set "$fields"
job "$scratch/deck.yaml" --out "$scratch/job" --seed 7 --replicas 1 --set "$fields"
[ "$status" -eq 0 ] || fail "job: $(cat "$scratch/err")"
cp "$(echo "$scratch"/first/fields-*0.h5)" "$scratch/start.h5"
job --restart "$scratch/job" --replicas 2
[ "$status" -ne 0 ] || fail "a job with another file"
grep -q 'error: .*fields) has changed' "$scratch/err" ||
    fail "another file: $(cat "$scratch/err")"
cp "$dump" "$scratch/start.h5"
job --restart "$scratch/job" --replicas 3
[ "$status" -eq 0 ] || fail "restarted: $(cat "$scratch/err")"
grep -q "^8,$hash," "$scratch/job/replicas.csv" ||
    fail "replica 2 is not $hash: $(cat "$scratch/job/replicas.csv")"
job "$scratch/deck.yaml" --out "$scratch/whole" --seed 7 --replicas 2 --set "$fields"
grep -q "^8,$hash," "$scratch/whole/replicas.csv" ||
    fail "replica 2 is not $hash: $(cat "$scratch/whole/replicas.csv")"

# A dump has no temperature (NaN) outside and in a vacuum: there the start is the
# deck's. Where there is matter now it is an error.
cat >"$scratch/holes.yaml" <<'END'
title: Holes
mesh: {cells: [6, 1, 1]}
materials:
  - {name: gas, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.5}
  - {name: vacuum}
regions:
  - {material: gas}
  - {material: vacuum, shape: box, lo: [0.3, 0, 0], hi: [0.7, 1, 1]}
  - {material: outside, shape: box, lo: [0.7, 0, 0], hi: [1, 1, 1]}
time: {dt: 1e-12, steps: 2}
output: {every: 1, profile: {bins: cells}}
END
run run "$scratch/holes.yaml" --quiet --out "$scratch/holes"
[ "$status" -eq 0 ] || fail "holes: $(cat "$scratch/err")"
fields="fields={file: $scratch/holes/fields-2.h5, temperature: material_temperature,
 radiation_temperature: radiation_temperature}"
run run "$scratch/holes.yaml" --quiet -n 3 --out "$scratch/filled" --set "$fields"
[ "$status" -eq 0 ] || fail "from a dump with holes: $(cat "$scratch/err")"
column "$scratch/holes/profile-2.csv" >"$scratch/end"
column "$scratch/filled/profile-0.csv" >"$scratch/start"
[ "$(grep -c '^nan$' "$scratch/end")" -eq 4 ] || fail "no holes: $(cat "$scratch/end")"
paste "$scratch/end" "$scratch/start" | awk '
    ($1 == "nan") != ($2 == "nan") { exit 1 }
    $1 != "nan" && ($1 - $2 > 1e-12 * $1 || $2 - $1 > 1e-12 * $1) { exit 1 }' ||
    fail "holes: $(paste "$scratch/end" "$scratch/start")"
run run "$scratch/holes.yaml" --quiet -n 3 --out "$scratch/more" --set "$fields" \
    --set regions.1.material=gas
[ "$status" -eq 2 ] || fail "no temperature: exit status $status"
[ "$(grep -c 'material_temperature. for cell [23]: expected .*, got nan' \
    "$scratch/err")" -eq 1 ] || fail "no temperature: $(cat "$scratch/err")"

# A number of replicas that is none.
for number in 1e300 3.5 nan; do
    command -v python3 >/dev/null || break
    rm -rf "$scratch/odd"
    cp -r "$scratch/job" "$scratch/odd"
    python3 - "$(echo "$scratch"/odd/fields-*0.h5)" "$number" <<'END' || fail "$number"
import struct, sys
path, number = sys.argv[1], float(sys.argv[2])
data = bytearray(open(path, "rb").read())
at = data.index(b"replicas\0")
struct.pack_into("<d", data, data.index(struct.pack("<d", 3.0), at, at + 80), number)
open(path, "wb").write(data)
END
    job --restart "$scratch/odd" --replicas 4
    [ "$(grep -c 'error: .*fields-.*0.h5 is missing or damaged' "$scratch/err")" -eq 1 ] ||
        fail "$number replicas: $(cat "$scratch/err")"
done

finish
