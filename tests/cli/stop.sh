#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan
#
# STOP-1, STOP-2, LAUNCH-1 to LAUNCH-5, RELAY-3, DECKRUN-4 to DECKRUN-6: the first signal
# ends the step and leaves a checkpoint, the second kills; the same by the time
# limit and under a launcher of the user's. What is printed as the way to go on does, and
# the result is that of a run that was never stopped.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
cd "$scratch/cwd" || exit 1
PATH=$(dirname "$STORM_BIN"):$PATH # for the line that is printed

# Seconds of steps, unless it is stopped.
long="$here/../../examples/decks/marshak.yaml --set mesh.cells=[40,2,1]"
long="$long --set time.dt=1e-13 --set time.growth=1 --set time.stop=1 --seed 7"

state() {
    sed -n 's/.*"state": "\([a-z]*\)".*/\1/p' "$1"
}

step_of() {
    sed -n 's/.*"step": \([0-9]*\).*/\1/p' "$1/status.json"
}

first_rank() {
    sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$1/status.json"
}

# until N COMMAND: for up to N seconds.
until_s() {
    for _ in $(seq $(($1 * 10))); do
        eval "$2" && return
        sleep 0.1
    done
    return 1
}

# begin DIR COMMAND...: a long run in the background, after its first step; on
# $ranks ranks, with the arguments $more.
ranks=""
more=""
begin() {
    dir=$1
    shift
    # shellcheck disable=SC2086
    "$@" run $long --out "$dir" ${ranks:+-n $ranks} $more </dev/null \
        >"$scratch/out" 2>"$scratch/err" &
    job=$!
    until_s 30 "[ -e $dir/fields-0.h5 ]" || fail "$dir: does not begin"
    sleep 0.3
}

# stopped DIR: it was, as it should be.
stopped() {
    wait "$job"
    status=$?
    step=$(step_of "$1")
    [ $status -eq 3 ] || fail "$1: exit status $status: $(cat "$scratch/err")"
    tail -1 "$scratch/err" |
        grep -q "^storm: stopped at step $step; go on: storm run --restart $1\$" ||
        fail "$1: $(cat "$scratch/err")"
    [ -e "$1/checkpoint-$step.h5" ] || fail "$1: no checkpoint"
    [ "$(state "$1/status.json")" = stopped ] || fail "$1: not stopped"
    [ "$(state "$1/summary.json")" = stopped ] || fail "$1: summary"
}

# goes_on DIR RANKS: by the line printed, to three steps more.
goes_on() {
    line=$(sed -n 's/^.*; go on: //p' "$scratch/err")
    steps=$((step + 3))
    eval "$line -n $2 --set time.steps=$steps --json -" >"$scratch/out" \
        2>"$scratch/err" || fail "$1: $line: $(cat "$scratch/err")"
    grep -q "restarting from step $step" "$scratch/err" ||
        fail "$1: from which step? $(cat "$scratch/err")"
    # shellcheck disable=SC2086
    run run $long --set time.steps=$steps --quiet --json - --out whole -n 1 \
        --overwrite
    hash=$(grep state_hash "$scratch/out")
    grep -q "${hash:-none}" "$1/summary.json" || fail "$1: another state"
    for file in whole/*; do
        name=${file##*/}
        case $name in
        summary.json | partition.csv | status.json | history.csv) continue ;;
        esac
        cmp -s "$file" "$1/$name" || fail "$1: $name differs"
    done
    [ "$(find "$1" -type f | wc -l)" -eq "$(find whole -type f | wc -l)" ] ||
        fail "$1: other files: $(ls "$1")"
}

# Signals to storm, on one to three ranks; --json leads nowhere when the run
# stops. SIGHUP comes twice when a terminal is closed.
more="--json gone/x.json"
for case in "1 INT 2" "2 TERM 3" "3 HUP 1"; do
    # shellcheck disable=SC2086
    set -- $case
    ranks=$1
    mkdir gone
    begin "x$1" "$STORM_BIN"
    rmdir gone
    kill "-$2" $job
    [ "$2" != HUP ] || kill -HUP $job
    stopped "x$1"
    grep -q 'stopping after this step' "$scratch/err" || fail "x$1: no answer"
    goes_on "x$1" "$3"
done

more=""

# As soon as it begins.
"$STORM_BIN" run "$here/../../examples/decks/hohlraum.yaml" --out early -n 2 \
    --set mesh.points=20000 >"$scratch/out" 2>"$scratch/err" &
job=$!
until_s 30 "[ -s early/status.json ]" || fail "early: does not begin"
kill -TERM $job
wait $job
status=$?
[ $status -eq 3 ] || fail "early: exit status $status: $(cat "$scratch/err")"
# The directory is taken after set-up (DECKRUN-7): steps may have begun, of which
# there are some 100, and a busy machine may let this script wait for seconds.
[ "$(step_of early)" -le 20 ] || fail "early: not among the first steps"

# Not before the ranks can catch it, on whatever node: this launcher starts them
# late, and complains if it is asked to pass SIGUSR1 on before the run runs.
if [ -n "${STORM_MPIEXEC:-}" ] && command -v python3 >/dev/null; then
    cat >late.py <<'EOF'
import signal, subprocess, sys, time
ranks = None
def forward(*_):
    try:
        runs = '"state"' in open("late/status.json").read()
    except OSError:
        runs = False
    if not runs:
        open("late.mark", "w").close()
    elif ranks:
        ranks.send_signal(signal.SIGUSR1)
signal.signal(signal.SIGUSR1, forward)
open("late.up", "w").close()
end = time.time() + 2.5
while time.time() < end:
    time.sleep(0.1)
ranks = subprocess.Popen(sys.argv[1:])
sys.exit(ranks.wait())
EOF
    # shellcheck disable=SC2086
    "$STORM_BIN" run $long --out late -n 2 </dev/null \
        --launcher "python3 late.py $STORM_MPIEXEC" \
        >"$scratch/out" 2>"$scratch/err" &
    job=$!
    until_s 30 "[ -e late.up ]" || fail "late: no launcher"
    sleep 0.5
    kill -INT $job
    wait $job
    status=$?
    [ $status -eq 3 ] || fail "late: exit status $status: $(cat "$scratch/err")"
    [ ! -e late.mark ] || fail "late: the ranks were asked too soon"
fi

# Under a launcher of the user's: to the launcher, or to one rank alone, where
# two signals within a second are one request.
if [ -n "${STORM_MPIEXEC:-}" ]; then
    ranks=""
    for to in launcher rank twice; do
        begin "$to" "$STORM_MPIEXEC" -n 2 "$STORM_BIN"
        rank=$(first_rank "$to")
        case $to in
        launcher) kill -USR1 $job ;;
        rank) kill -USR1 "$rank" ;;
        twice) kill -TERM "$rank"
            kill -INT "$rank" ;;
        esac
        wait $job
        grep -q "stopped at step .*; go on: storm run --restart $to\$" \
            "$scratch/err" || fail "$to: $(cat "$scratch/err")"
        grep -q 'stopping after this step' "$scratch/err" ||
            fail "$to: no answer"
        [ "$(grep -E '^  wrote|stopped at' "$scratch/err" |
            sed -n '$s/:.*//p')" = storm ] ||
            fail "$to: not below the summary: $(cat "$scratch/err")"
        [ "$(state "$to/status.json")" = stopped ] || fail "$to: not stopped"
    done

    # One that comes later kills the rank; the others wait for rank 0.
    begin later "$STORM_MPIEXEC" -n 3 "$STORM_BIN"
    rank=$(first_rank later)
    parent=$(cut -d ' ' -f 4 "/proc/$rank/stat")
    others=$(tr ' ' '\n' <"/proc/$parent/task/$parent/children" |
        grep -vx "$rank")
    # shellcheck disable=SC2086
    kill -STOP $others
    kill -TERM "$rank"
    sleep 1.2
    kill -0 "$rank" || fail "later: the first signal kills"
    kill -TERM "$rank"
    until_s 30 "! kill -0 $rank 2>/dev/null" || fail "later: it is still there"
    # shellcheck disable=SC2086
    kill -CONT $others 2>/dev/null
    wait $job && fail "later: exit status 0"
    [ "$(state later/status.json)" = running ] || fail "later: it has stopped"
fi

# The second signal kills, soon, and no rank stays. Rank 0 is stopped for all
# the time: for a minute the run cannot end in another way.
ranks=2
begin killed "$STORM_BIN"
rank=$(first_rank killed)
kill -STOP "$rank"
kill -TERM $job
sleep 0.5
kill -TERM $job
from=$(date +%s)
(sleep 60; kill -CONT "$rank") >/dev/null 2>&1 & # or this test would not end
rescue=$!
wait $job
status=$?
kill $rescue
[ $status -eq 143 ] || fail "killed: exit status $status"
[ $(($(date +%s) - from)) -le 30 ] || fail "killed: too late"
until_s 30 "! kill -0 $rank 2>/dev/null" || fail "killed: a rank is left"

# The loss of a rank: the same line, if there is a checkpoint.
for every in 0 1; do
    begin "lost$every" "$STORM_BIN"
    [ "$every" -eq 0 ] || : >"lost$every/checkpoint-1.h5"
    kill -9 "$(first_rank "lost$every")"
    wait $job
    status=$?
    [ $status -eq 1 ] || fail "lost$every: exit status $status"
    text="storm: go on: storm run --restart lost1"
    [ "$every" -eq 1 ] || text="storm: there is no checkpoint in lost0"
    [ "$(tail -1 "$scratch/err" | grep -c "^$text")" -eq 1 ] ||
        fail "lost$every: $(cat "$scratch/err")"
    grep -q 'a rank was killed by signal 9 (SIGKILL)' "$scratch/err" ||
        fail "lost$every: which signal? $(cat "$scratch/err")"
    [ "$(grep -c '^storm: error' "$scratch/err")" -eq 1 ] ||
        fail "lost$every: not one error: $(cat "$scratch/err")"
done

# The loss of the launcher: no rank's fault. The state is of this moment, not of
# the last time it was written every ten seconds.
begin orphans "$STORM_BIN"
until_s 8 "grep -q '\"step\": [1-9]' orphans/status.json" || fail "orphans: step is not recorded"
kill -9 "$(ps -o pid= --ppid $job)"
wait $job
status=$?
[ $status -eq 1 ] || fail "orphans: exit status $status"
grep -q '^storm: error: .* was killed by signal 9 (SIGKILL)' "$scratch/err" ||
    fail "orphans: $(cat "$scratch/err")"
! grep -q 'a rank was killed' "$scratch/err" || fail "orphans: a rank?"

# Time limits: seconds of the option, and the end of a job of Slurm.
for case in "3s 0" "1:00:00 5"; do
    # shellcheck disable=SC2086
    set -- $case
    [ "$2" -eq 0 ] || export SLURM_JOB_END_TIME=$(($(date +%s) + $2))
    from=$(date +%s)
    # shellcheck disable=SC2086
    "$STORM_BIN" run $long --out "limit$2" -n 2 --time-limit "$1" --quiet \
        >"$scratch/out" 2>"$scratch/err" &
    job=$!
    stopped "limit$2"
    grep -q '"reason": "time limit"' "limit$2/status.json" || fail "why?"
    [ $(($(date +%s) - from)) -le 60 ] || fail "limit $1 $2: too late"
done
unset SLURM_JOB_END_TIME
for bad in 0 x 3x 3m2h -1 3:50 3:60:00 1:2:3x 1e3 "''"; do
    run run "$here/good.yaml" "--time-limit=$bad"
    [ "$status" -eq 2 ] || fail "--time-limit $bad: $status"
done

# On a terminal: ^C reaches storm alone, and no part of the bar stays. It fits
# into a line.
if command -v script >/dev/null; then
    mkfifo keys
    # shellcheck disable=SC2086
    script -q -e -f -c "stty cols 50; $STORM_BIN run $long --out tty -n 2" \
        typed <keys >/dev/null 2>&1 &
    job=$!
    exec 9>keys
    until_s 30 "grep -aqs '%  step' typed" || fail "tty: no bar"
    printf '\003' >&9
    wait $job
    status=$?
    exec 9>&-
    [ $status -eq 3 ] || fail "tty: exit status $status"
    tr '\r' '\n' <typed | sed 's/.*\x1b\[K\(.\)/\1/' >lines
    grep -aq '^storm: stopped at step .* --restart tty$' lines ||
        fail "tty: $(tail -c 500 typed)"
    tr '\r' '\n' <typed | sed -n 's/\x1b.*//;/%  step/p' |
        grep -aE '.{50}' && fail "tty: a bar is longer than a line"
    # The last that was drawn over a bar is a cleared line.
    tr '\r' '\n' <typed | grep -a '%  step' | tail -1 >last
    tr '\r' '\n' <typed | grep -aA1 -F "$(cat last)" | tail -1 |
        grep -aq '^.\[K' || fail "tty: the bar is left: $(tail -c 300 typed)"
fi
finish
