#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# CHECKPOINT-1 to CHECKPOINT-4: a run that is restarted from a checkpoint ends
# with the same state and files as one that was never stopped, on another number
# of ranks, from the file before a damaged one, and not with another deck.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
decks=$here/../../examples/decks

# ends HASH: the last run did well and has this state.
ends() {
    [ "$status" -eq 0 ] || fail "$1: exit status $status: $(cat "$scratch/err")"
    grep -q "\"state_hash\": \"$1\"" "$scratch/out" || fail "not $1"
}

# check NAME SETS...: stopped after 7 of 11 steps, continued on other ranks.
check() {
    name=$1
    shift
    whole=$scratch/$name-whole part=$scratch/$name-part
    every="--set output.checkpoint.every=3 --set output.every=7"
    every="$every --set output.probes=[[0.05,0.05,0.05]]"
    every="$every --set output.trace=[emission:2:1:0,emission:8:3:1]"
    # shellcheck disable=SC2086
    run run "$decks/$name.yaml" "$@" $every --set time.steps=11 --quiet \
        --json - --out "$whole" -n 2
    right=$(hash_of)
    created=$(grep packets_created "$scratch/out")
    # shellcheck disable=SC2086
    run run "$decks/$name.yaml" "$@" $every --set time.steps=7 --quiet \
        --json - --out "$part" -n 3
    [ "$status" -eq 0 ] || fail "$name: $(cat "$scratch/err")"
    ls "$part/checkpoint-6.h5" "$part/checkpoint-7.h5" >"$scratch/ls" ||
        fail "$name: checkpoints are missing"
    [ ! -e "$part/checkpoint-3.h5" ] || fail "$name: three are kept"
    run run --restart "$part" --set time.steps=11 --quiet --json - -n 1
    ends "$right"
    grep -q "$created" "$scratch/out" || fail "$name: packets are lost"
    for file in "$whole"/*; do
        case $file in
        *summary.json | *partition.csv | *checkpoint* | *status.json) continue ;;
        *history.csv) # HISTORY-1, HISTORY-2: up to the balance
            till_balance "$file" >"$scratch/all"
            till_balance "$part/history.csv" >"$scratch/both"
            [ "$(wc -l <"$scratch/all")" -eq 12 ] || fail "$name: short history"
            cmp -s "$scratch/all" "$scratch/both" ||
                fail "$name: history.csv differs"
            continue
            ;;
        esac
        cmp -s "$file" "$part/${file##*/}" || fail "$name: ${file##*/} differs"
    done
}

# FLOWS-1: over all steps, created = absorbed + escaped + census.
closes() {
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { for (i = 1; i <= NF; i++)
              if (name[i] ~ /^absorbed_|^escaped_/) sum -= $i
              else if (name[i] == "energy_census") census = $i
              else if (name[i] ~ /^energy_/) { sum += $i; all += $i } }
        END { d = (sum - census) / all; exit !(all > 0 && d * d < 1e-24) }' \
        "$1/history.csv" || fail "$1: flows do not add up"
}

check marshak --set "mesh.cells=[40,2,1]" --set time.dt=2e-11
# Records with the energy of photons (SCATTER-3).
compton="--set materials.slab.scattering_law=compton"
compton="$compton --set materials.slab.electrons_per_g=3e25"
# shellcheck disable=SC2086
check multigroup-slab --set groups.count=8 \
    --set "mesh={edges: {x: [0, 0.01, 0.03, 0.07, 0.0701, 0.1, 0.15, 0.2]}}" \
    --set "output.tallies=[{name: light, by: [time, group, wall], to: 1e-9}]" \
    --set boundaries.x_lo.packets=100 $compton
# MOTION-1: a mesh and a box that move.
# shellcheck disable=SC2086
check expand $(echo "$compton" | sed s/slab/gas/g) \
    --set mesh.points=300 --set balance.host=cells \
    --set "output.tallies=[{name: seen, by: [time, direction], to: 1, clock: observer}]"

# Matter that moves with its cells, in which packets diffuse.
check translate --set mesh.points=300 --set acceleration.method=ddmc \
    --set "materials=[{name: vacuum}, {name: gas, absorption: {coef: 3},
        scattering: {coef: 400}, heat_capacity: {coef: 1e15},
        temperature: 0.1, velocity: [2e9, 0, 0]}]"

for name in marshak multigroup-slab expand translate; do
    closes "$scratch/$name-part"
done

# MATERIALS-3: a layer that has moved out of its shape is not missed.
slab="--set mesh.points=300 --set mesh.lloyd=1"
# shellcheck disable=SC2086
run run "$decks/translate.yaml" $slab --set time.steps=6 --quiet -n 2 \
    --set output.checkpoint.every=6 --out "$scratch/slab"
run run --restart "$scratch/slab" --set time.steps=7 -n 1
[ "$status" -eq 0 ] || fail "slab, restarted: $(cat "$scratch/err")"
grep -q 'may have holes' "$scratch/err" && fail "slab: $(cat "$scratch/err")"

# A complete run restarts, from the file before if the newest is damaged.
part=$scratch/marshak-part
run run "$decks/marshak.yaml" --set "mesh.cells=[40,2,1]" --set time.dt=2e-11 \
    --set time.steps=13 --quiet --json - --out "$scratch/longer" -n 1
right=$(hash_of)
size=$(wc -c <"$part/checkpoint-11.h5")
printf 'damage' | dd of="$part/checkpoint-11.h5" bs=1 seek=$((size * 3 / 4)) \
    conv=notrunc 2>/dev/null
run run --restart "$part" --set time.steps=13 --json - -n 2
ends "$right"
grep -q 'checkpoint-11.h5 is damaged' "$scratch/err" || fail "no word of damage"

# Nothing is left to do: all files, with the times in them, stay as they are.
cp "$part/summary.json" "$part/status.json" "$scratch"
run run --restart "$part" --set time.steps=13 --json - -n 1
ends "$right"
grep -q 'the run is complete, its files stay' "$scratch/err" ||
    fail "complete: $(cat "$scratch/err")"
for file in summary.json status.json; do
    cmp -s "$part/$file" "$scratch/$file" || fail "complete: $file is another"
done

# Elsewhere: what is listed for viewers is there.
else=$scratch/elsewhere
run run --restart "$part" --set time.steps=14 --set output.every=1 --quiet \
    --json - --out "$else" -n 2
[ "$status" -eq 0 ] || fail "not elsewhere: $(cat "$scratch/err")"
grep -o '[a-z0-9-]*\.h5' "$else/fields.xdmf" | sort -u >"$scratch/listed"
grep -q 'fields-14' "$scratch/listed" || fail "elsewhere: no dump"
while read -r file; do
    [ -e "$else/$file" ] || fail "elsewhere: $file is listed, but not there"
done <"$scratch/listed"

# One that is damaged does not count: the last good one stays.
echo damage >"$part/checkpoint-20.h5"
run run --restart "$part" --set time.steps=14 --set output.checkpoint.keep=1 \
    --quiet -n 1
[ "$status" -eq 0 ] || fail "not beside a damaged one: $(cat "$scratch/err")"
[ -e "$part/checkpoint-14.h5" ] || fail "the last good one is gone"
[ ! -e "$part/checkpoint-13.h5" ] || fail "the one before it is not"

# What does not fit is refused, in one line.
refused() {
    text=$1 right=$2
    shift 2
    run run "$@" --quiet
    [ "$status" -eq "$right" ] || fail "$text: exit status $status"
    grep -q "$text" "$scratch/err" || fail "not '$text': $(cat "$scratch/err")"
    [ "$(grep -c error "$scratch/err")" -eq 1 ] || fail "$text: reported twice"
}
refused "made with another mesh" 1 --restart "$part" -n 2 \
    --set "mesh.cells=[41,2,1]"
refused "made with another seed" 1 --restart "$part" -n 1 --set seed=5
refused "made with another choice of materials" 1 --restart "$part" -n 2 \
    --set materials.0.heat_capacity.coef=3e14
refused "made with another choice of materials" 1 --restart "$part" -n 1 \
    --set constants.c=1
refused "holds a run" 2 --restart "$part" -n 1 \
    --out "$scratch/multigroup-slab-part"
refused "holds a run" 2 "$part/deck.yaml" --out "$part" -n 2
refused "holds a run" 2 "$part/deck.yaml" --out "$part" \
    -n 1 --set output.checkpoint.every=0
mkdir "$scratch/empty"
cp "$part/deck.yaml" "$scratch/empty"
refused "no good checkpoint in.*checkpoint.every" 1 --restart \
    "$scratch/empty" -n 2
echo damage >"$scratch/empty/checkpoint-20.h5"
refused "no good checkpoint in.*1 there.*run $scratch/empty/deck.yaml --out" 1 \
    --restart "$scratch/empty" -n 1
refused "got the file $scratch/empty/check.*--restart $scratch/empty" 2 \
    --restart "$scratch/empty/checkpoint-20.h5" -n 1
finish
