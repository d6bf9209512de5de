#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST args: kill:3 segv:1 stop:1:1; timeout: 600; label: slow-asan slow-mpich
# TEST args: kill:100; timeout: 1800; label: long
# TEST args: segv:100; timeout: 1800; label: long
# TEST args: stop:20:3 stop:3:60; timeout: 900; label: long
#
# campaign.sh KIND:COUNT[:SECONDS]...
#
# Signals to one of three ranks at random moments of the phases of a run, over
# every backend (storm_kill.c knows the phases):
#
#   kill  SIGKILL          the loss is named within 5 s; no process and no
#   segv  SIGSEGV, with    shared memory is left; a restart from the newest
#         core dumps       checkpoint, or a new run if there is none, ends with
#                          the state of a run that was not disturbed
#   stop  SIGSTOP, SIGCONT after SECONDS
#                          nothing happens until the rank goes on; the run ends
#                          with the right state
#
# All pairs of phase and backend are tried before one is tried again, and every
# signal must hit the phase that it was meant for. The seed
# (STORM_TEST_SEED) decides which pair, rank and occurrence of the phase come
# when, and the fraction of its measured length after which the signal comes.
# (Not with MPICH, whose launcher kills all others before they can print, and
# not with sanitizers, which handle SIGSEGV themselves.)
# shellcheck disable=SC2015,SC2317 # A && B || fail; called by name
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR/../cli source=cli.sh
. "$here/../cli/cli.sh"
killed=$STORM_BUILD/tests/storm_kill
deck=$here/deck.yaml
phases="mesh first-step transport population output checkpoint"
seed=${STORM_TEST_SEED:-1}
cd "$scratch/cwd" || exit 1

backends="shm p2p"
if "$STORM_BIN" info | grep -q '^  ofi .* works$'; then
    backends="shm ofi p2p"
else
    echo "no ofi: 12 of 18 pairs"
fi

options_of() {
    case $1 in
    shm) echo "--backend shm" ;;
    ofi) echo "--backend ofi --no-shm --provider tcp" ;;
    p2p) echo "--backend p2p" ;;
    esac
}

hash_of() {
    sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' "$1"
}

now_ms() {
    echo $(($(date +%s%N) / 1000000))
}

# The report of storm_kill: numbers of the processes, and the signal.
processes() {
    awk '$1 == "process" { print $3 }' "$scratch/report"
}

signal_field() {
    awk -v i="$1" '$1 == "signal" { print $i; exit }' "$scratch/report"
}

# Files in shared memory that carry the number of one of the processes.
shared_memory() {
    for process in $(processes); do
        find /dev/shm -maxdepth 1 -printf '%f\n' 2>/dev/null |
            grep -E "(^|[^0-9])$process([^0-9]|\$)"
    done
}

# until_ms LIMIT COMMAND...: repeat it until it succeeds; false if too late.
until_ms() {
    limit=$(($(now_ms) + $1))
    shift
    until "$@"; do
        [ "$(now_ms)" -lt $limit ] || return 1
        sleep 0.02
    done
}

is_gone() {
    for process in $(processes); do
        ! kill -0 "$process" 2>/dev/null || return 1
    done
}

is_signalled() {
    grep -qs '^signal' "$scratch/report" || ! kill -0 "$job" 2>/dev/null
}

is_named() {
    grep -q "rank $rank is lost" "$scratch/err"
}

# start SIGNAL: the run of this case, in the background.
start() {
    rm -rf "$scratch/report" out again core*
    # shellcheck disable=SC2046
    STORM_TEST_KILL="$scratch/report $1 $rank $phase $count $delay" \
        "$killed" run "$deck" -n 3 --out out --quiet --json - \
        $(options_of "$backend") >"$scratch/out" 2>"$scratch/err" </dev/null &
    job=$!
    until_ms 60000 is_signalled && grep -qs '^signal' "$scratch/report" ||
        fail "$case: the signal was not sent: $(cat "$scratch/err")"
}

# Does the system write cores into the directory of the process?
cores_are_here() {
    [ "$(ulimit -c)" = unlimited ] &&
        grep -q '^core' /proc/sys/kernel/core_pattern
}

# The state after a loss, from a checkpoint if there is one.
restart() {
    if ls out/checkpoint-*.h5 >/dev/null 2>&1; then
        from=checkpoint
        run run --restart "$scratch/cwd/out" -n 2 --quiet --json -
    else
        from=nothing
        run run "$deck" --out again -n 2 --quiet --json -
    fi
    [ $status -eq 0 ] && [ "$(hash_of "$scratch/out")" = "$right" ] ||
        fail "$case: restart from $from: status $status," \
            "state '$(hash_of "$scratch/out")': $(cat "$scratch/err")"
}

lose() {
    start "$1"
    sent=$(($(signal_field 5) / 1000000))
    until_ms 10000 is_named || fail "$case: rank $rank is not named:" \
        "$(cat "$scratch/err")"
    named=$(($(now_ms) - sent))
    [ $named -le 5000 ] || fail "$case: named after $named ms"
    wait $job
    status=$?
    [ $status -ne 0 ] || fail "$case: exit status 0"
    until_ms 10000 is_gone || fail "$case: processes are left"
    gone=$(($(now_ms) - sent))
    left=$(shared_memory)
    [ -z "$left" ] || fail "$case: left in shared memory: $left"
    core=$(find . -maxdepth 1 -name 'core*' -printf '%k\n' | head -n 1)
    rm -f core*
    [ "$1" -ne 11 ] || [ -n "$core" ] || ! cores_are_here ||
        fail "$case: no core file"
    restart
    echo "$case: named after $named ms, all gone after $gone ms," \
        "${core:+core of $core KiB on disk, }restart from $from"
}

# Silence for so long; then the run goes on as if nothing had been.
pause() {
    start 19
    sleep "$seconds"
    kill -0 $job 2>/dev/null || fail "$case: the run ended meanwhile"
    kill -CONT "$(signal_field 4)"
    wait $job
    status=$?
    [ $status -eq 0 ] && [ "$(hash_of "$scratch/out")" = "$right" ] &&
        [ ! -s "$scratch/err" ] ||
        fail "$case: status $status, state" \
            "'$(hash_of "$scratch/out")': $(cat "$scratch/err")"
    echo "$case: went on"
}

# Lengths of the phases with each backend, and the state that all must have.
measure() {
    right=""
    for backend in $backends; do
        rm -rf out
        # shellcheck disable=SC2046
        STORM_TEST_KILL=$scratch/phases-$backend "$killed" run "$deck" -n 3 \
            --out out --quiet --json - $(options_of "$backend") \
            >"$scratch/out" 2>"$scratch/err" </dev/null
        state=$(hash_of "$scratch/out")
        [ -n "$state" ] && [ "${right:-$state}" = "$state" ] || {
            fail "$backend: state '$state', not '$right': $(cat "$scratch/err")"
            finish
        }
        right=$state
        sed -n "s/^phase /$backend /p" "$scratch/phases-$backend"
    done >"$scratch/phases"
}

# choose: lines `KIND SECONDS BACKEND PHASE RANK COUNT DELAY_US`
choose() {
    echo "$*" | tr ' ' '\n' | awk -F : -v seed="$seed" -v phases="$phases" \
        -v backends="$backends" -v lengths="$scratch/phases" '
        function shuffle(    i, k, swap) {
            for (i = n_pairs; i > 1; i--) {
                k = 1 + int(rand() * i)
                swap = pair[i]; pair[i] = pair[k]; pair[k] = swap
            }
        }
        BEGIN {
            srand(seed)
            n_phases = split(phases, phase, " ")
            n_backends = split(backends, backend, " ")
            for (i = 1; i <= n_phases; i++)
                for (k = 1; k <= n_backends; k++)
                    pair[++n_pairs] = backend[k] " " phase[i]
            while ((getline line < lengths) > 0) {
                split(line, word, " ")
                name = word[1] " " word[2]
                length_us[name, ++n_of[name]] = word[4]
            }
        }
        {
            for (i = 0; i < $2; i++) {
                if (n_chosen++ % n_pairs == 0)
                    shuffle()
                name = pair[1 + (n_chosen - 1) % n_pairs]
                count = 1 + int(rand() * n_of[name])
                print $1, $3 + 0, name, int(rand() * 3), count,
                    int(rand() * length_us[name, count])
            }
        }'
}

echo "seed $seed"
measure
choose "$@" >"$scratch/cases"
: >"$scratch/hits"
while read -r kind seconds backend phase rank count delay <&3; do
    case="$kind rank $rank, $backend, $phase $count + $delay us"
    case $kind in
    kill) lose 9 ;;
    segv)
        # shellcheck disable=SC3045 # dash has it
        ulimit -c "${STORM_TEST_CORE:-unlimited}"
        lose 11
        ;;
    stop) pause ;;
    *) fail "no kind '$kind'" ;;
    esac
    if grep -qs "^signal $phase $rank " "$scratch/report"; then
        echo "$kind $backend $phase" >>"$scratch/hits"
    else
        fail "$case: hit something else: $(grep -s '^signal' "$scratch/report")"
    fi
done 3<"$scratch/cases"

echo "hits:"
sort "$scratch/hits" | uniq -c | tee "$scratch/pairs"

# If there are enough of a kind, every pair has three.
# shellcheck disable=SC2086
n_pairs=$(($(echo $phases | wc -w) * $(echo $backends | wc -w)))
for wanted in "$@"; do
    kind=${wanted%%:*} count=${wanted#*:}
    hit=$(awk -v kind="$kind" '$2 == kind && $1 >= 3' "$scratch/pairs" | wc -l)
    [ "${count%%:*}" -lt $((3 * n_pairs)) ] || [ "$hit" -eq $n_pairs ] ||
        fail "$kind: only $hit of $n_pairs pairs were hit three times"
done
finish
