#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60
#
# DECK-2, YAML-3: decks with errors give exit status 2, messages with file, line,
# key and what was expected, all at once; nothing written, no rank started. Which
# errors there are: tests/run/deck_errors.c.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"

# reports PATTERN WHAT: it was an error, and one line matches.
reports() {
    [ "$status" -eq 2 ] || fail "$2: exit status $status, not 2"
    [ ! -s "$scratch/out" ] || fail "$2: wrote to standard output"
    grep -q -e "^storm: error: $1" "$scratch/err" ||
        fail "$2: '$(cat "$scratch/err")' does not match '$1'"
    [ -z "$(ls -A "$scratch/cwd")" ] || fail "$2: left files behind"
}

good=$here/good.yaml
run check "$good"
[ "$status" -eq 0 ] || fail "good.yaml: $(cat "$scratch/err")"

# All at once, by run as by check, and from one rank.
for command in check run; do
    run "$command" "$good" --set time.dt=0 --set seed=x --set mesh.kind=round
    reports ".*time.dt" "$command, three errors"
    [ "$(wc -l <"$scratch/err")" -eq 3 ] ||
        fail "$command, three errors: $(cat "$scratch/err")"
done

# A key that is neither a wall nor a number is one error.
printf 'title: x\nmesh: {kind: file, file: x.msh}\nboundaries: {"70000": {}}\n' \
    >"$scratch/deck.yaml"
run check "$scratch/deck.yaml"
reports "$scratch/deck.yaml:3: boundaries.70000: unknown key" "boundary 70000"
[ "$(wc -l <"$scratch/err")" -eq 1 ] ||
    fail "boundary 70000: $(cat "$scratch/err")"

# All of a file, each with its line.
cat >"$scratch/deck.yaml" <<'DECK'
title: many
mesh: {kind: round, cells: [0, 1, 1]}
materials:
  - {name: gas, temperature: -1}
  - {name: gas}
regions:
  - {material: lead}
boundaries:
  x_lo:
    - {kind: blackbody, part: {shape: disc}}
  x_hi: {kind: blackbody, temperature: [[1, 1], [0, 1]]}
sources:
  - {power: 1, start: 2, stop: 1}
groups: {count: 3, min: 2, max: 1}
packets: {steer: luck}
time: {dt: 0}
DECK
for command in check run; do
    run "$command" "$scratch/deck.yaml"
    for line in 2:.mesh.kind 2:.mesh.cells 4:.materials.0.temperature \
        5:.materials.1.name 7:.regions.0.material \
        10:.boundaries.x_lo.0:.temperature 10:.boundaries.x_lo.0.part.shape \
        11:.boundaries.x_hi.temperature 13:.sources.0 14:.groups \
        15:.packets.steer 16:.time.dt; do
        reports "$scratch/deck.yaml:$line.*expected" "$command, many errors"
    done
    [ "$(wc -l <"$scratch/err")" -eq 12 ] ||
        fail "$command, many errors: $(cat "$scratch/err")"
    sed 's/^[^:]*: [^:]*: [^:]*:\([0-9]*\):.*/\1/' "$scratch/err" |
        sort -n -c 2>"$scratch/order" ||
        fail "$command, many errors: not by line: $(cat "$scratch/order")"
done
lines=$( (OMPI_COMM_WORLD_RANK=1 "$STORM_BIN" run "$good" --set seed=x) 2>&1 |
    wc -l)
[ "$lines" -eq 0 ] || fail "rank 1 talks"

run check "$scratch/none.yaml"
reports "$scratch/none.yaml: No such file" "a file that is not there"
run check "$scratch"
reports "$scratch: " "a directory"
run check
reports "check: no deck" "no deck"
run check "$good" "$good"
reports "unexpected argument" "two decks"
run check "$good" --set nonsense
reports "--set: expected KEY=VALUE" "no ="

# The resolved deck has all keys and reads back to itself.
run check "$good" --resolved
cp "$scratch/out" "$scratch/one.yaml"
run check "$scratch/one.yaml" --resolved
cmp -s "$scratch/out" "$scratch/one.yaml" || fail "resolved: changes"
for key in growth dt_max lloyd radiation_temperature ring_slots keep weight \
    random_walk population scattering y_hi; do
    grep -q "$key:" "$scratch/one.yaml" || fail "resolved: no $key"
done

# Overrides by name and by number, of maps and of lists.
run check "$good" --resolved --set materials.wall.temperature=0.25 \
    --set regions.1.hi='[0.25, 1, 1]' --set 'groups={count: 2}' \
    --set time.steps=7
[ "$status" -eq 0 ] || fail "--set: $(cat "$scratch/err")"
for text in 'temperature: 0.25, radiation_temperature: 0.25' \
    'hi: \[0.25, 1, 1\]' 'count: 2' 'steps: 7'; do
    grep -q "$text" "$scratch/out" || fail "--set: no $text"
done

finish
