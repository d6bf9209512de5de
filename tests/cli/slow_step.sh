#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: slow-asan
#
# WATCH-2: a step that never ends, because the cap of an opacity is far too high,
# names the material and what helps while it runs, once. With a lower cap the
# same deck ends, and says nothing.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

cat >"$scratch/trap.yaml" <<'DECK'
title: A trap
mesh: {box: {lo: [0, 0, 0], hi: [0.2, 1, 1]}, cells: [10, 1, 1]}
materials:
  - name: gold
    absorption: {coef: 1e9, T_exp: -3, E_exp: -3, max: 1e12}
    heat_capacity: {coef: 1e15}
    temperature: 0.5
groups: {count: 10, min: 1e-4, max: 100}
boundaries:
  x_lo: {kind: blackbody, temperature: 1, packets: 1000}
time: {dt: 1e-11, steps: 2}
output: {every: 0, profile: {bins: 0}}
DECK

run run "$scratch/trap.yaml" -n 1 --set materials.gold.absorption.max=1e4
[ "$status" -eq 0 ] || fail "cap of 1e4: $(cat "$scratch/err")"
grep -q 'is slow' "$scratch/err" && fail "cap of 1e4: $(cat "$scratch/err")"

# One rank is one process.
"$STORM_BIN" run "$scratch/trap.yaml" -n 1 --out "$scratch/trap" \
    >"$scratch/out" 2>"$scratch/err" &
pid=$!
text='step 0 is slow: .* of events are in material gold, group'
seconds=0
while [ $seconds -lt 60 ] && ! grep -q "$text" "$scratch/err"; do
    sleep 1
    seconds=$((seconds + 1))
done
sleep 2 # for a second message
kill -0 $pid 2>/dev/null || fail "cap of 1e12: it ended: $(cat "$scratch/err")"
kill -KILL $pid
wait $pid 2>/dev/null
grep -q "$text.*what helps: a lower max" "$scratch/err" ||
    fail "cap of 1e12: no reason: $(cat "$scratch/err")"
[ "$(grep -c 'is slow' "$scratch/err")" -eq 1 ] ||
    fail "cap of 1e12: not once: $(cat "$scratch/err")"

finish
