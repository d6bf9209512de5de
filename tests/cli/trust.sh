#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan
#
# SCARCE-3: a wave into cold, thick, stiff matter (heat capacity T^5, opacity
# T^-4.5) stands where its steps leave it, and says so, with the same numbers on
# any number of ranks; so does heating that rests on a handful of packets. Waves
# into ordinary matter say nothing.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
decks=$here/../../examples/decks
stiff="matter at the front of a wave is cold, thick and stiff"
few="doubled their energy in one step by fewer than 10 packets"

cat >"$scratch/stiff.yaml" <<END
title: stiff
mesh: {box: {lo: [0, 0, 0], hi: [0.0125, 1, 1]}, cells: [16, 1, 1]}
materials:
  - name: slab
    absorption: {coef: 1000, T_exp: -4.5}
    heat_capacity: {coef: 6e14, T_exp: 5}
    temperature: 0.01
boundaries:
  x_lo: {kind: blackbody, temperature: 1, packets: 100}
  y_lo: {kind: reflect}
  y_hi: {kind: reflect}
  z_lo: {kind: reflect}
  z_hi: {kind: reflect}
time: {dt: 1e-12, steps: 48}
packets: {emit_per_cell: 5, max_per_cell: 15}
acceleration: {random_walk: true}
output: {every: 0, profile: {bins: cells}}
END

# front DIR STEP: the last bin above half the temperature of the wall.
front() {
    awk -F, 'NR > 2 && $2 > 0.5 { x = $1 } END { print x + 0 }' \
        "$1/profile-$2.csv"
}

for ranks in 1 3; do
    run run "$scratch/stiff.yaml" -n $ranks --json - --out "$scratch/stiff" \
        --overwrite
    [ "$(grep -c "$stiff" "$scratch/err")" -eq 1 ] ||
        fail "stiff, on $ranks: $(cat "$scratch/err")"
    sed -n '/"heating"/,/}/p' "$scratch/out" >"$scratch/heating-$ranks"
done
cmp -s "$scratch/heating-1" "$scratch/heating-3" || fail "stiff: other numbers"
# It is right: with half the step the front is elsewhere.
run run "$scratch/stiff.yaml" -n 2 --set time.dt=5e-13 --set time.steps=96 \
    --out "$scratch/half"
far=$(front "$scratch/half" 96) near=$(front "$scratch/stiff" 48)
awk -v far="$far" -v near="$near" 'BEGIN { exit !(far > 1.3 * near) }' ||
    fail "stiff: the front, at $near, does not depend on the step: $far"

run run "$decks/marshak.yaml" --set mesh.cells=[40,8,1] --set time.steps=2 \
    --set boundaries.x_lo.packets=8 --set output.every=0 -n 2 --json - \
    --out "$scratch/few"
grep -q "$few" "$scratch/err" ||
    fail "few: $(cat "$scratch/err") $(grep scarce_share "$scratch/out")"

for deck in marshak multigroup-slab thick-groups; do
    run run "$decks/$deck.yaml" --set time.steps=12 -n 2 --json - \
        --set output.every=0 --out "$scratch/$deck"
    [ "$status" -eq 0 ] || fail "$deck: $(cat "$scratch/err")"
    grep -q "$stiff\|$few" "$scratch/err" && fail "$deck: $(cat "$scratch/err")"
done
finish
