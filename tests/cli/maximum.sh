#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan
#
# Steps too long for the maximum principle are logged once, with cell, step and
# a safe step; and matter does get hotter than the wall then. With steps as
# in the decks nothing is logged, and it does not.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
decks=$here/../../examples/decks

# hotter STEP KEV: is matter hotter than that anywhere in this profile?
hotter() {
    tail -n +3 "$scratch/new/profile-$1.csv" |
        awk -F, -v limit="$2" '$2 > limit { hot = 1 } END { exit !hot }'
}

for n in 1 3; do
    run run "$decks/marshak.yaml" -n $n --set time.dt=2e-11 \
        --set time.growth=1 --set time.steps=3 --out "$scratch/new" --overwrite
    [ "$status" -eq 0 ] || fail "marshak, long steps: $(cat "$scratch/err")"
    [ "$(grep -c "maximum principle" "$scratch/err")" -eq 1 ] ||
        fail "long steps on $n: $(cat "$scratch/err")"
    grep -q "warning: a step of 2e-11 s is too long in cell 0 (step 0)" \
        "$scratch/err" || fail "long steps on $n: $(cat "$scratch/err")"
    grep -q "could reach 3.43 keV, more than the 1 keV around it; 5.8e-12" \
        "$scratch/err" || fail "long steps on $n: $(cat "$scratch/err")"
done
hotter 3 1.1 || fail "long steps: not hotter than the wall after all"

# 5.8e-12 s is safe at the start.
run run "$decks/marshak.yaml" --set time.dt=5.7e-12 --set time.growth=1 \
    --set time.steps=1 --out "$scratch/new" --overwrite
grep -q "maximum principle" "$scratch/err" &&
    fail "safe step: $(cat "$scratch/err")"
hotter 1 1 && fail "safe step: hotter than the wall"

for deck in marshak su-olson equilibrium infinite-medium; do
    run run "$decks/$deck.yaml" --set time.steps=20 --out "$scratch/new" \
        --overwrite
    grep -q "maximum principle" "$scratch/err" &&
        fail "$deck: $(cat "$scratch/err")"
done

finish
