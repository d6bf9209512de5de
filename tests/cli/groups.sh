#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan
#
# Groups with any edges, listed or from a file, and each of the averages over
# them: the same state on 1, 2, 3, 5 ranks, and another one for another average.
# Faults of the file of edges are reported with its line.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

cat >"$scratch/deck.yaml" <<'DECK'
title: groups
mesh: {box: {lo: [0, 0, 0], hi: [0.6, 1, 1]}, cells: [12, 1, 1]}
materials:
  - name: slab
    absorption: {coef: 30, T_exp: -0.5, E_exp: -3}
    scattering: {coef: 0.5, E_exp: -0.5}
    heat_capacity: {coef: 1e15}
    temperature: 1e-2
groups: {edges: [0.01, 0.1, 0.3, 1, 1.5, 4, 20]}
boundaries: {x_lo: {kind: blackbody, temperature: 1, packets: 300}}
time: {dt: 1e-11, steps: 4}
packets: {emit_per_cell: 4, min_per_cell: 1, max_per_cell: 15}
output: {every: 0, profile: {bins: 0}}
DECK

# state ARGS...: leaves the hash of a run.
state() {
    run run "$scratch/deck.yaml" --overwrite --json - --quiet "$@"
    [ "$status" -eq 0 ] || fail "$*: $(cat "$scratch/err")"
    hash=$(hash_of)
    [ -n "$hash" ] || fail "$*: no hash"
}

# Groups of one cell add up to its energy, of the step and of the packets at its
# end: a picture of one value has it as text.
if command -v python3 >/dev/null; then
    for radiation in path census; do
        state -n 1 --out "$scratch/one" --set mesh.cells='[1,1,1]' \
            --set output.groups=true --set output.radiation=$radiation
        for step in 0 4; do
            run plot "$scratch/one" --step $step --out "$scratch/plots" --quiet \
                --field "radiation_energy$(printf ',radiation_energy_group_%d' 0 1 2 3 4 5)"
            python3 - "$scratch/plots" $step <<'PYTHON' || fail "$radiation, step $step"
import re, sys

def value(name):
    svg = open(f"{sys.argv[1]}/slice-z-{name}-{sys.argv[2]}.svg").read()
    high = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    text = re.search(r">([^<]*) erg/cm³<", svg)[1]
    base, _, power = text.replace("×10", "e").partition("e")
    return float(base) * 10.0 ** int("".join(high[c] for c in power) or 0)

whole = value("radiation_energy")
parts = sum(value(f"radiation_energy_group_{g}") for g in range(6))
assert whole > 0 and abs(parts / whole - 1) < 1e-3, (parts, whole)
PYTHON
        done
    done
fi

seen=
for opacity in middle planck rosseland; do
    state -n 1 --set "groups.opacity=$opacity"
    first=$hash
    grep -q "\"opacity\": \"$opacity\"" "$scratch/out" ||
        fail "$opacity is not in the summary"
    for n in 2 3 5; do
        state -n "$n" --set "groups.opacity=$opacity"
        [ "$hash" = "$first" ] || fail "$opacity, $n ranks: $hash, not $first"
    done
    case " $seen " in
    *" $first "*) fail "$opacity is as another average" ;;
    esac
    seen="$seen $first"
    [ "$opacity" != planck ] || planck=$first
done

# The same edges from a file beside the deck, with the resolved deck elsewhere.
cat >"$scratch/edges.txt" <<'EDGES'
# keV
0.01
0.1   # soft

0.3
1
1.5
4
  20
EDGES
sed -i 's/^groups: .*/groups: {edges_file: edges.txt, opacity: planck}/' \
    "$scratch/deck.yaml"
state -n 2
[ "$hash" = "$planck" ] || fail "edges from a file: $hash, not $planck"
run check "$scratch/deck.yaml" --resolved
grep -q 'edges: \[0.01, 0.1, 0.3, 1' "$scratch/out" ||
    fail "the resolved deck does not have the edges"

# bad LINES PATTERN: a file of edges with this text.
bad() {
    printf '%b' "$1" >"$scratch/edges.txt"
    run run "$scratch/deck.yaml" --out "$scratch/bad"
    [ "$status" -eq 2 ] || fail "$1: exit status $status"
    grep -q "deck.yaml:9: groups.edges_file: .*edges.txt:$2" "$scratch/err" ||
        fail "$1: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$1: more than one error"
    [ ! -e "$scratch/bad" ] || fail "$1: a directory was made"
}
bad '1\n2\n# x\n2\n' '4: expected rising edges, got 2 after 2'
bad '1\n3\n2\n' '3: expected rising edges, got 2 after 3'
bad '1\nnan\n2\n' "2: expected a number above 0, got 'nan'"
bad '0\n1\n2\n' "1: expected a number above 0, got '0'"
bad '1 2\n3\n4\n' "1: expected a number above 0, got '1 2'"
bad '1\n2\n' '2: expected 3 or more edges, got 2'
bad '' '0: expected 3 or more edges, got 0'

finish
