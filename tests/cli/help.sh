#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 30
#
# Help, version and info work without ranks, and help fits a screen.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

good() {
    run "$@"
    [ "$status" -eq 0 ] || fail "storm $*: exit status $status"
    [ -s "$scratch/out" ] || fail "storm $*: no output"
    [ ! -s "$scratch/err" ] || fail "storm $*: $(cat "$scratch/err")"
    long=$(awk 'length > 80' "$scratch/out")
    case " $* " in
    *" options "* | *" info "*) ;;
    *) [ -z "$long" ] || fail "storm $*: wide lines: $long" ;;
    esac
}

good --version
grep -q '^storm [0-9][0-9.]*' "$scratch/out" || fail "--version: no version"
good --help
[ "$(wc -l <"$scratch/out")" -le 24 ] || fail "--help is more than a screen"
for command in bench info options; do
    grep -q "^  $command" "$scratch/out" || fail "--help: no $command"
done
grep -q "storm help COMMAND" "$scratch/out" || fail "--help: no help"
good bench --help
cp "$scratch/out" "$scratch/bench_help"
for name in uniform scaling breakdown exchange ring termination; do
    grep -q "^  $name" "$scratch/bench_help" || fail "bench --help: no $name"
    good bench "$name" --help
    [ "$(wc -l <"$scratch/out")" -le 24 ] || fail "$name --help is too long"
done
good info --help
same_help() { # WORDS: "storm help WORDS" prints what "storm WORDS --help" does
    good "$@" --help
    cp "$scratch/out" "$scratch/flag_help"
    good help "$@"
    cmp -s "$scratch/out" "$scratch/flag_help" || fail "help $*: not --help's"
}
same_help
same_help run
same_help bench uniform
run help nothing
[ "$status" -eq 2 ] || fail "help nothing: exit status $status"
good info
grep -q "^  shm  *shared memory.*works" "$scratch/out" || fail "info: no shm"
grep -q "^  p2p  *MPI messages.*works" "$scratch/out" || fail "info: no p2p"

# Every row of the option table is in the help and in the page.
good options
grep -o -e ', --[a-z-]*' "$scratch/out" | cut -c5- >"$scratch/rows"
[ "$(wc -l <"$scratch/rows")" -ge 10 ] || fail "options: too few rows"
good options --markdown
while read -r row; do
    grep -q -e "\`--$row\`" "$scratch/out" || fail "markdown: no --$row"
    grep -q -e "^  --\(no-\)*$row\b" "$scratch/bench_help" ||
        fail "bench --help: no --$row"
done <"$scratch/rows"

finish
