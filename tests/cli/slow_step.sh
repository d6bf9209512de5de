#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan slow-mpich
#
# WATCH-2, CONTROL-5: a step that never ends, because the cap of an opacity is far
# too high, names the material, the rank and what helps while it runs: once, also
# if several ranks are slow and rank 0 has nothing to do. With a lower cap the same
# deck ends, and says nothing.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

# Rank 0 of three has cells without matter.
cat >"$scratch/trap.yaml" <<'DECK'
title: A trap
mesh: {box: {lo: [0, 0, 0], hi: [0.3, 1, 1]}, cells: [12, 1, 1]}
materials:
  - name: gold
    absorption: {coef: 1e9, T_exp: -3, E_exp: -3, max: 1e12}
    heat_capacity: {coef: 1e15}
    temperature: 0.5
  - {name: vacuum}
regions:
  - {material: gold}
  - {material: vacuum, shape: box, lo: [0, 0, 0], hi: [0.125, 1, 1]}
groups: {count: 10, min: 1e-4, max: 100}
time: {dt: 1e-11, steps: 2}
balance: {every: 0}
output: {every: 0, profile: {bins: 0}}
DECK

run run "$scratch/trap.yaml" -n 3 --set materials.gold.absorption.max=1e4
[ "$status" -eq 0 ] || fail "cap of 1e4: $(cat "$scratch/err")"
grep -q 'is slow' "$scratch/err" && fail "cap of 1e4: $(cat "$scratch/err")"

text='step 0 is slow: .* of events are in material gold, group'

# start RANKS
start() {
    "$STORM_BIN" run "$scratch/trap.yaml" -n "$1" --out "$scratch/trap-$1" \
        >"$scratch/out-$1" 2>"$scratch/err-$1" &
    eval "pid_$1=$!"
}

# reports RANKS: waits for its line.
reports() {
    seconds=0
    while [ $seconds -lt 120 ] && ! grep -q "$text" "$scratch/err-$1"; do
        sleep 1
        seconds=$((seconds + 1))
    done
}

# trapped RANKS WHO: its line came from one of these ranks, and no other came.
trapped() {
    eval "pid=\$pid_$1"
    # shellcheck disable=SC2154
    kill -0 "$pid" 2>/dev/null ||
        fail "cap of 1e12, $1 ranks: it ended: $(cat "$scratch/err-$1")"
    grep -q "on rank $2, .* in material gold, .*what helps: a lower max" \
        "$scratch/err-$1" ||
        fail "cap of 1e12, $1 ranks: no reason: $(cat "$scratch/err-$1")"
    [ "$(grep -c 'is slow' "$scratch/err-$1")" -eq 1 ] ||
        fail "cap of 1e12, $1 ranks: not once: $(cat "$scratch/err-$1")"
    kill -TERM "$pid"
    sleep 0.5
    kill -TERM "$pid" 2>/dev/null # the second one does not wait for the step
    wait "$pid" 2>/dev/null
}

start 3
start 1
reports 3
reports 1
sleep 3 # for a second line
trapped 3 '[12]'
trapped 1 0

finish
