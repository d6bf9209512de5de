#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# storm check estimates memory within a factor of three of what a run then needs,
# on boxes and on Voronoi cells, on one rank and on two; and time within one of
# ten, of thirty here, as the machine may be busy: of the first step and of the
# longest.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
decks=$here/../../examples/decks

# value NAME WORD: the number before this word in that line.
value() {
    sed -n "s/^  $1 .* \\([0-9.e+-]*\\) $2.*/\\1/p" "$scratch/check"
}

json() {
    sed -n "s/^  \"$1\": \\([0-9.e+-]*\\).*/\\1/p" "$scratch/out"
}

# is_within FACTOR A B
is_within() {
    awk -v f="$1" -v a="$2" -v b="$3" \
        'BEGIN { exit !(a > 0 && b > 0 && a < f * b && b < f * a) }'
}

# within WHAT FACTOR A B
within() {
    is_within "$2" "$3" "$4" || fail "$1: estimated $3, measured $4"
}

# check NAME RANKS SETS...
check() {
    name=$1 ranks=$2
    shift 2
    run check "$decks/$name.yaml" -n "$ranks" "$@"
    [ "$status" -eq 0 ] || fail "$name: $(cat "$scratch/err")"
    mv "$scratch/out" "$scratch/check"
    # Some take milliseconds, in which a busy machine may do something else.
    for _ in 1 2 3 4 5 6 7 8; do
        run run "$decks/$name.yaml" -n "$ranks" "$@" --set time.steps=2 \
            --quiet --json - --overwrite
        [ "$status" -eq 0 ] || fail "$name: $(cat "$scratch/err")"
        step_s=$(awk -v s="$(json seconds)" 'BEGIN { print s / 2 }')
        is_within 30 "$(value time 's a step')" "$step_s" && break
    done
    [ "$(json cells)" = "$(sed -n 's/^  cells *//p' "$scratch/check")" ] ||
        fail "$name: cells"
    within "$name: memory of a rank" 3 "$(value memory 'MB a rank')" \
        "$(json peak_memory_mb)"
    within "$name: time of a step" 30 "$(value time 's a step')" "$step_s"
}

check marshak 1 --set 'mesh.cells=[100,50,2]'
check marshak 2 --set 'mesh.cells=[100,100,2]'
check hohlraum 2 --set mesh.points=10000 --set mesh.lloyd=1
check multigroup-slab 1

# Diffusion keeps depths of all groups at all faces.
hops="--set acceleration.random_walk=false --set acceleration.method=ddmc
    --set groups.count=1000 --set mesh.cells=[500,1,1] --set mesh.box.hi=[0.5,1,1]
    --set packets.emit_per_cell=1 --set packets.max_per_cell=2"
# shellcheck disable=SC2086
run check "$decks/thick-groups.yaml" -n 1 $hops
mv "$scratch/out" "$scratch/check"
# shellcheck disable=SC2086
run run "$decks/thick-groups.yaml" -n 1 $hops --set time.steps=1 --quiet --json - \
    --overwrite
within "diffusion: memory of a rank" 1.5 "$(value memory 'MB a rank')" \
    "$(json peak_memory_mb)"

# An octree: what its uniform start needs.
run check "$decks/hohlraum.yaml" --set mesh.kind=octree --set mesh.level=12 \
    --set mesh.refine_levels=2
grep -q '^  cells *68719476736 or more (refine_levels not counted' "$scratch/out" ||
    fail "octree: $(cat "$scratch/out")"
grep -q 'warning: .*: needs about .* of memory' "$scratch/err" ||
    fail "octree, too large: $(cat "$scratch/err")"

# A step of the max length as the first one.
small="--set mesh.points=10000 --set mesh.lloyd=1"
# shellcheck disable=SC2086
run check "$decks/hohlraum.yaml" -n 2 $small
longest=$(sed -n 's/^  time .* \([0-9.e+-]*\) s in the longest.*/\1/p' \
    "$scratch/out")
# shellcheck disable=SC2086
check hohlraum 2 $small --set time.dt=1.8e-10
[ "$longest" = "$(value time 's a step')" ] ||
    fail "the longest step: $longest, not that of 1.8e-10 s"
# The last of three that grow; one that the end of the run cuts.
for last in 'time.steps=3 4e-12' 'time.stop=3e-12 3e-12'; do
    for sets in "--set time.growth=2 --set ${last% *}" \
        "--set time.dt=${last#* }"; do
        # shellcheck disable=SC2086
        run check "$here/good.yaml" -n 1 --set 'mesh.cells=[400,40,40]' $sets
        sed -n 's/.* \([0-9.e+-]*\) s in the longest.*/\1/p' "$scratch/out"
    done | uniq | wc -l | grep -qx 1 || fail "the longest of $last"
done

# More packets than 2^64.
run check "$here/good.yaml" -n 1 --set 'mesh.cells=[65536,65536,65535]' \
    --set packets.emit_per_cell=1000000000 --set packets.max_per_cell=1000000000
[ "$status" -eq 0 ] || fail "many packets: $(cat "$scratch/err")"
awk '/ MB a rank/ { exit !($3 > 1e18) }' "$scratch/out" ||
    fail "many packets: $(cat "$scratch/out")"

# Nothing where cells are counted in a file.
echo "0.5 0 0" >"$scratch/points.csv"
run check "$decks/hohlraum.yaml" --set mesh.points_file="$scratch/points.csv"
[ "$status" -eq 0 ] || fail "a file: $(cat "$scratch/err")"
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "a file: $(cat "$scratch/out")"

# More than this machine has: said, in units that can be read. Dumps that no step
# reaches, too.
run check "$decks/marshak.yaml" --set 'mesh.cells=[100000,100000,100]' \
    --set 'output.times=[1e9, 0]'
[ "$status" -eq 0 ] || fail "large: exit status $status"
grep -q 'warning: .*needs about [0-9.]* TB of memory, this machine has' \
    "$scratch/err" || fail "large: $(cat "$scratch/err")"
grep -q 'warning: .*output.times: 1 of 2 are after time.stop' "$scratch/err" ||
    fail "times: $(cat "$scratch/err")"
run check "$here/good.yaml"
[ ! -s "$scratch/err" ] || fail "good.yaml: $(cat "$scratch/err")"

# And if it is not there: for what, how much, where, and what to do.
(
    ulimit -v 400000
    run run "$decks/marshak.yaml" -n 1 --set 'mesh.cells=[400,400,40]' --quiet \
        --out "$scratch/none"
)
grep -q 'error: no memory on rank 0 for [0-9.]* MB (.*) besides .*: use fewer' \
    "$scratch/err" || fail "no memory: $(cat "$scratch/err")"
run check "$here/good.yaml" --quiet
[ ! -s "$scratch/out" ] || fail "--quiet talks"
# What does nothing is said, by check and by the run, once each.
cat >"$scratch/idle.yaml" <<'YAML'
title: idle
mesh: {box: {lo: [0, 0, 0], hi: [1, 1, 1]}, cells: [2, 2, 2]}
materials: [{name: gas, absorption: {coef: 1}, heat_capacity: {coef: 1e14}, temperature: 0.1}]
planes:
  - {axis: y, at: 1.5, temperature: 1}
  - {axis: x, at: 1.5, velocity: -1e10, temperature: 1}
  - {axis: x, at: 0.5, lo: [2, 0], hi: [3, 1], temperature: 1}
sources:
  - {kind: beam, at: [2, 0.5, 0.5], direction: [1, 0, 0], disc_radius: 3, power: 1}
  - {kind: beam, at: [1.2, 0.5, 0.5], direction: [0, 1, 0], disc_radius: 0.3, power: 1}
  - {kind: shell, at: [0.5, 0.5, 0.5], shell_radius: 2, power: 1}
  - {shape: box, lo: [2, 0, 0], hi: [3, 1, 1], power: 1}
  - {kind: shell, at: [0.5, 0.5, 0.5], shell_radius: 0.2, power: 1, start: 2e-10}
time: {dt: 5e-11, stop: 1e-10}
output:
  probes: [[0.5, 0.5, 0.5], [0.5, 0.5, 7]]
  trace: ["emission:0:1:0", "emission:0:77:0"]
YAML
run check "$scratch/idle.yaml"
for text in "planes.0: at y = 1.5 it is wholly outside mesh.box" \
    "planes.2: at x = 0.5 it is wholly outside" \
    "sources.0: the beam at .2, 0.5, 0.5. is wholly outside" \
    "sources.2: the shell at" "sources.3: its shape is wholly" \
    "sources.4.start: 2e-10 is not before time.stop, 1e-10" \
    "output.probes.1: .0.5, 0.5, 7. is outside mesh.box"; do
    [ "$(grep -c "warning: .*$text" "$scratch/err")" -eq 1 ] ||
        fail "check: no $text: $(cat "$scratch/err")"
done
[ "$(wc -l <"$scratch/err")" -eq 7 ] || fail "check: $(cat "$scratch/err")"
run run "$scratch/idle.yaml" -n 2 --out "$scratch/idle" --replicas 2
[ "$status" -eq 0 ] || fail "idle: $(cat "$scratch/err")"
for text in planes.0 sources.2 output.probes.1 \
    "output.trace.1: there was no packet emission:0:77:0"; do
    [ "$(grep -c "warning: .*$text" "$scratch/err")" -eq 1 ] ||
        fail "run: not once $text: $(cat "$scratch/err")"
done
grep -q "output.trace.0" "$scratch/err" && fail "a packet that was traced"

finish
