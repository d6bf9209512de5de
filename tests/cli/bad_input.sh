#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60
#
# A wrong command line gives one line on standard error, exit status 2, and
# nothing else: no output, no file, no rank started.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

# bad PATTERN ARGS...: the line matches the pattern.
bad() {
    pattern=$1
    shift
    run "$@"
    [ "$status" -eq 2 ] || fail "storm $*: exit status $status, not 2"
    [ ! -s "$scratch/out" ] || fail "storm $*: wrote to standard output"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] ||
        fail "storm $*: not one line: $(cat "$scratch/err")"
    grep -q -e "$pattern" "$scratch/err" ||
        fail "storm $*: '$(cat "$scratch/err")' does not match '$pattern'"
    [ -z "$(ls -A "$scratch/cwd")" ] || fail "storm $*: left files behind"
}

bad "no command"
bad "unknown command 'bensh'; did you mean 'bench'" bensh
bad "unknown command 'zzzzzzzz'" zzzzzzzz
bad "unknown option '--versoin'; did you mean '--version'" --versoin
bad "bench: no benchmark" bench
bad "unknown benchmark 'unifrom'; did you mean 'uniform'" bench unifrom
bad "unexpected argument 'two'" bench exchange two
bad "unexpected argument" info something
bad "unknown option '--batch'" info --batch 4

for n in 0 -1 1.5 two 1e9 '' 0x2; do
    bad "^storm: error: -n: expected a whole number" bench exchange -n "$n"
done
bad "-n needs a value" bench exchange -n
bad "not found; name another with --launcher" \
    bench exchange -n 2 --launcher no-such-launcher

bad "unknown option '--bathc'; did you mean '--batch'" \
    bench exchange --bathc 3
bad "unknown option '-x'" bench exchange -x
bad "expected an integer from 1" bench exchange --batch none
bad "expected an integer from 1" bench exchange --batch 0
bad "expected an integer from 1" bench exchange --batch=
bad "expected one of .*fast, paper.*got 'slow'" \
    bench exchange --protocol slow
bad "expected a number from" bench exchange --growth-factor 0.5
bad "expected one of .*shm.*got 'pigeon'" bench exchange --backend pigeon
bad "expected one of" bench exchange --set transport.backend=pigeon
bad "unknown key 'transport.bach'; did you mean 'transport.batch'" \
    bench exchange --set transport.bach=3
bad "expected KEY=VALUE" bench exchange --set transport.batch
bad "unknown key '--batch'" bench exchange --set=--batch=3

# A flag is not the value of another.
bad "error: --axis needs a value$" plot here --axis --out there
bad "error: --out needs a value$" plot here --out --quiet
bad "error: -n needs a value$" bench exchange -n --quiet
bad "error: --set needs a value$" bench exchange --set --batch=3
bad "error: --batch needs a value$" bench exchange --batch -n 2
bad "error: --json needs a value$" bench exchange --json --

# Guesses are near or none: two letters, or the rest of the word.
bad "unknown option '--ref'; did you mean '--reference'" plot --ref
bad "unknown command 'ru'; did you mean 'run'" ru
bad "unknown command 'plto'; did you mean 'plot'" plto
bad "unknown command 'blub'; 'storm --help' lists them" blub
bad "unknown option '--verbosity'; 'storm --help' lists them" \
    bench exchange --verbosity
bad "unknown option '--xy'; 'storm --help' lists them" plot --xy
bad "unknown option '--'; 'storm --help' lists them" plot --
bad "takes no value" bench exchange --no-shm=3
bad "takes no value" bench exchange --quiet=3
bad "do not go together" bench exchange --quiet --verbose
bad "expected auto, always or never" bench exchange --progress sometimes
bad "expected a FILE" bench exchange --json ''
bad "--json: cannot write /no-such/x.json: No such file" \
    bench exchange --json /no-such/x.json
bad "--json: cannot write /: Is a directory" bench exchange --json /

bad "--mesh: expected .*voronoi.*, got 'cubes'" bench uniform --mesh cubes
bad "--distribution: expected uniform, clustered or lattice, got 'odd'" \
    bench voronoi --distribution odd
bad "--lloyd and --distribution are for --mesh voronoi" bench uniform --lloyd 0
bad "expected a whole number" bench uniform --cells 0
bad "expected a whole number" bench uniform --emit -3
bad "--timed 6: there are only 5 cycles" bench uniform --timed 6
bad "do not go together" bench uniform --cells 8 --cells-per-rank 8
bad "do not go together" bench uniform --dt 1e-10 --crossings 3
bad "expected a number" bench uniform --dt nan
bad "expected a number" bench uniform --crossings inf
bad "unknown option '--records'" bench uniform --records 5
bad "unknown option '--emit'" bench exchange --emit 5
bad "between 2 ranks" bench ring -n 3
bad "there is no backend 'pigeon'" bench ring --backends shm,pigeon
bad "whole numbers, separated by commas" bench ring --batch 1,,2
bad "whole numbers, separated by commas" bench ring --batch 1,0

# A backend that is not part of this build, if there is one.
for name in ofi ibv mpirma; do
    if "$STORM_BIN" info | grep -q "^  $name .*not part of this build"; then
        bad "backend '$name' is not part of this build; built here: " \
            bench exchange --backend "$name"
        bad "backend '$name' is not part of this build" \
            bench ring --backends "$name"
    fi
done

# Tallies whose surface or axis is none.
deck=$(cd "$(dirname "$0")" && pwd)/good.yaml
tally() {
    bad "output.tallies.0.$1" check "$deck" --set "output.tallies=[{name: a, $2}]"
}
surface='where: surface, by: [side], shape'
tally 'radius: expected the first below the second, got 0.5 and 0.2' \
    "$surface: sphere, radius: [0.5, 0.2]"
tally 'range: expected the first below the second, got 1 and 1' \
    "$surface: cylinder, radius: [0, 1], range: [1, 1]"
tally 'hi: expected the first below the second, got 1 and 0' \
    "$surface: box, lo: [0, 1, 0], hi: [1, 0, 1]"
tally 'towards: expected a direction, got .0, 0, 0.' \
    'by: [direction], towards: [0, 0, 0]'
tally 'time_edges: expected edges that grow, got 0.05 after 0.1' \
    'by: [time], time_edges: [0, 0.1, 0.05]'
for shape in 'radius: [0, 0.2], centre: [9, 9, 9]' 'radius: [0, 50]'; do
    run check "$deck" --set "output.tallies=[{name: a, $surface: sphere, $shape}]"
    [ "$status" -eq 0 ] || fail "$shape: exit status $status"
    grep -q "warning: .*output.tallies.0: no face .*: a stays 0; move it" \
        "$scratch/err" || fail "$shape: $(cat "$scratch/err")"
done

# The environment is checked as well.
STORM_BATCH=many
export STORM_BATCH
bad "STORM_BATCH.*expected an integer" bench exchange
unset STORM_BATCH

# Under a launcher, the first rank alone says it.
for variable in OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK; do
    for rank in 0 1; do
        lines=$( (env "$variable=$rank" "$STORM_BIN" bench nonsense) 2>&1 |
            wc -l)
        [ "$lines" -eq $((1 - rank)) ] ||
            fail "$variable=$rank: $lines lines"
    done
done

finish
