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
    *" options "* | *" info "*) ;; # lines for other programs
    *) [ -z "$long" ] || fail "storm $*: wide lines: $long" ;;
    esac
}

good -V
cp "$scratch/out" "$scratch/version"
good --version
cmp -s "$scratch/out" "$scratch/version" || fail "-V: not the version"
grep -q '^storm [0-9][0-9.]*' "$scratch/out" || fail "--version: no version"
good --help
[ "$(wc -l <"$scratch/out")" -le 24 ] || fail "--help is more than a screen"
for command in run bench lab check plot report compare points info options; do
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
# What a command can do, its exit statuses, and how its packets travel.
for command in run bench lab check plot report compare points info options; do
    good "$command" --help
    grep -q '^Exit status: 0 .*, 1 .*, 2 ' "$scratch/out" ||
        fail "$command --help: no exit status"
done
good run --help
grep -q '^Exit status: .*, 3 stopped' "$scratch/out" || fail "run: no 3"
cp "$scratch/out" "$scratch/run_help"
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
grep -q "^  emulated  runs kernels" "$scratch/out" || fail "info: no devices"
grep -q "^  PTX  " "$scratch/out" || fail "info: no PTX"

# Every row of the option table is in the help and in the page.
good options
grep -o -e ', --[a-z-]*' "$scratch/out" | cut -c5- >"$scratch/rows"
[ "$(wc -l <"$scratch/rows")" -ge 10 ] || fail "options: too few rows"
good options --markdown
while read -r row; do
    grep -q -e "\`--$row\`" "$scratch/out" || fail "markdown: no --$row"
    grep -q -e "^  --\(no-\)*$row\b" "$scratch/bench_help" ||
        fail "bench --help: no --$row"
    grep -q -e "^  --\(no-\)*$row\b" "$scratch/run_help" ||
        fail "run --help: no --$row"
done <"$scratch/rows"

# Completions name what there is, and the shell reads them; manual pages have
# every flag of their command.
completed() { # WORD...: what bash offers for the last one
    good options --completion bash
    # shellcheck disable=SC2016
    bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _storm; printf "%s\n" "${COMPREPLY[@]}"' - "$scratch/out" "$@"
}
completed storm ru | grep -qx run || fail "completion: no command run"
( # a file, which may be a result
    cd "$scratch" && completed storm compare versi | grep -qx version
) || fail "completion: no file to compare"
completed storm run --backend o | grep -qx ofi || fail "completion: no ofi"
completed storm run --ring- | grep -qx -e --ring-slots ||
    fail "completion: no --ring-slots"
completed storm run --no-sh | grep -qx -e --no-shm ||
    fail "completion: no --no-shm"
completed storm bench uni | grep -qx uniform || fail "completion: no uniform"
good options --completion zsh
for flag in --restart --no-shm; do
    grep -q "'$flag\[" "$scratch/out" || fail "zsh: no $flag"
done
if command -v zsh >/dev/null; then
    zsh -n "$scratch/out" || fail "zsh does not read its completion"
fi
for command in run compare plot; do
    good "$command" --help
    status_line=$(sed -n 's/^Exit status: //p' "$scratch/out")
    good options --man "$command"
    grep -qxF "$status_line" "$scratch/out" || fail "man $command: exit status"
done
good options --man run
grep -q '^\.B \\-\\-restart \\fIDIR' "$scratch/out" || fail "man: no --restart"
grep -q '^\.B .*\\-\\-no\\-shm$' "$scratch/out" || fail "man: no --no-shm"
run options --man nothing
[ "$status" -eq 2 ] || fail "--man nothing: exit status $status"

finish
