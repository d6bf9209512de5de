#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# RUNDIR-1 to RUNDIR-5: a directory that holds a run is refused without
# --overwrite, and with it no file of the earlier run stays, but those of others
# do; the state of a run is in its directory from the start to the end, and plot
# and report tell it; of two runs at the same time one is refused; a run that is
# killed while it removes another cannot be restarted.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
deck=$here/good.yaml
dir=$scratch/cwd/out/good

state() {
    sed -n 's/.*"state": "\([a-z]*\)".*/\1/p' "$dir/$1"
}

# refused TEXT ARGS...: before anything is started, in one line.
refused() {
    text=$1
    shift
    (cd "$dir" && ls -l --time-style=full-iso) >"$scratch/before"
    run run "$deck" -n 2 "$@"
    [ "$status" -eq 2 ] || fail "$text: exit status $status"
    [ "$(grep -c "$text" "$scratch/err")" -eq 1 ] ||
        fail "not '$text': $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more: $(cat "$scratch/err")"
    (cd "$dir" && ls -l --time-style=full-iso) | cmp -s - "$scratch/before" ||
        fail "$text: the directory has changed"
}

run run "$deck" -n 2 --quiet --set output.every=1 --set output.checkpoint.every=1
[ "$status" -eq 0 ] || fail "good.yaml: $(cat "$scratch/err")"
[ "$(state status.json)" = "done" ] || fail "status: $(cat "$dir/status.json")"
[ "$(state summary.json)" = "done" ] || fail "no state in the summary"
refused "out/good holds a run: --overwrite replaces it, --restart out/good goes"
if [ -n "${STORM_MPIEXEC:-}" ]; then # under a launcher of the user's, too
    (cd "$scratch/cwd" && "$STORM_MPIEXEC" -n 2 "$STORM_BIN" run "$deck") \
        >"$scratch/out" 2>"$scratch/err"
    [ "$(grep -c 'holds a run' "$scratch/err")" -eq 1 ] ||
        fail "mpiexec: $(cat "$scratch/err")"
fi

# DECKRUN-7: a deck whose start is wrong, which the run finds, costs nothing.
(cd "$dir" && ls -l --time-style=full-iso) >"$scratch/before"
wrong='materials.0.density="2e-1-x"'
octree='mesh={kind: octree, level: 2, box: {lo: [0,0,0], hi: [1,1,1]}}'
for out in good new; do
    run run "$deck" -n 2 --quiet --overwrite --out "out/$out" --set "$octree" \
        --set 'output.profile.bins=4' --set "$wrong"
    [ "$status" -eq 2 ] || fail "a wrong start: exit status $status"
    [ "$(grep -c 'expected its formula to give a number above 0' "$scratch/err")" -eq 1 ] ||
        fail "a wrong start: $(cat "$scratch/err")"
done
(cd "$dir" && ls -l --time-style=full-iso | cmp -s - "$scratch/before") ||
    fail "a wrong start: the directory has changed"
[ ! -e "$scratch/cwd/out/new" ] || fail "a wrong start: $(ls -A "$scratch/cwd/out/new")"
run check "$deck" --set "$wrong"
[ "$status" -eq 2 ] || fail "check of a wrong start: exit status $status"

# What is there of others stays; nothing of the earlier run does.
run plot "$dir" --quiet
run report "$dir" --quiet
[ -e "$dir/report.html" ] || fail "no report"
for file in notes.txt fields-x.h5 fields-1.h5.bak checkpoint-.h5 my.part; do
    echo mine >"$dir/$file"
done
echo mine >"$dir/plots/mine.svg"
[ -e "$dir/plots/history-packets.svg" ] || fail "no pictures"
echo drawn >"$dir/plots/traffic.svg"
run run "$deck" -n 1 --quiet --overwrite --set output.every=0
[ "$status" -eq 0 ] || fail "--overwrite: $(cat "$scratch/err")"
found=$(cd "$dir" && find . -type f | sort | tr '\n' ' ')
[ "$found" = "./.lock ./checkpoint-.h5 ./deck.yaml ./fields-0.h5 ./fields-0.hdf \
./fields-1.h5.bak ./fields-3.h5 ./fields-3.hdf ./fields-x.h5 ./fields.hdf.series \
./fields.xdmf ./history.csv ./mesh.h5 ./my.part ./notes.txt ./partition.csv ./plots/mine.svg ./profile-0.csv ./profile-3.csv \
./status.json ./summary.json " ] || fail "after --overwrite: $found"

# A restart in place: nothing that is later than its checkpoint.
run run "$deck" -n 2 --quiet --overwrite --set output.every=1 \
    --set output.checkpoint.every=2 --set time.stop=9e-12
rm "$dir"/checkpoint-[3-9].h5
echo part >"$dir/fields-7.h5.part"
run run --restart "$dir" -n 2 --set time.steps=3 --set output.every=0
[ "$status" -eq 0 ] || fail "in place: $(cat "$scratch/err")"
grep -q "restarting from step 2 (.*/checkpoint-2.h5)" "$scratch/err" ||
    fail "in place: from where? $(cat "$scratch/err")"
found=$(cd "$dir" && echo fields-[0-9]*)
[ "$found" = "fields-0.h5 fields-0.hdf fields-1.h5 fields-1.h5.bak fields-1.hdf \
fields-2.h5 fields-2.hdf fields-3.h5 fields-3.hdf" ] || fail "in place: $found"
[ "$(grep -c '"name": "fields-[0-3].hdf"' "$dir/fields.hdf.series")" -eq 4 ] ||
    fail "in place: $(cat "$dir/fields.hdf.series")"

# A failure after a checkpoint tells how to go on; a start that is refused does
# not.
run run --restart "$dir" -n 2 --quiet --set time.steps=9 --max-events 1 \
    --set time.stop=1 --set time.growth=1000 --set time.dt_max=1
[ "$status" -eq 1 ] || fail "failure: exit status $status"
[ "$(tail -1 "$scratch/err")" = "storm: go on: storm run --restart $dir" ] ||
    fail "failure: how to go on? $(cat "$scratch/err")"
run run --restart "$dir" -n 1 --quiet --set mesh.cells='[7,1,1]'
[ "$status" -eq 1 ] || fail "other mesh: exit status $status"
! grep -q 'go on' "$scratch/err" || fail "other mesh: $(cat "$scratch/err")"

# A failure; and a restart that is refused changes nothing.
run run "$deck" -n 2 --quiet --overwrite --max-events 2 --set time.dt=1e-10 \
    --set mesh.cells='[40,1,1]'
[ "$status" -eq 1 ] || fail "failure: exit status $status"
[ "$(state status.json)" = failed ] || fail "failed: $(cat "$dir/status.json")"
[ ! -e "$dir/summary.json" ] || fail "failed: with a summary"
run plot "$dir"
grep -q 'warning: .*: the run failed after step 0' "$scratch/err" ||
    fail "plot of a failure: $(cat "$scratch/err")"
cp "$dir/status.json" "$scratch"
run run --restart "$dir" -n 1 --quiet
[ "$status" -eq 1 ] || fail "no checkpoint: exit status $status"
cmp -s "$dir/status.json" "$scratch/status.json" || fail "no checkpoint: changed"

# A run that is alive, and one that was killed.
run run "$deck" -n 1 --quiet --overwrite
start=$(awk '{ print $22 }' /proc/$$/stat)
change() {
    sed -e 's/"done"/"running"/' -e "s/\"pid\": .*,/\"pid\": $1,/" \
        -e "s/\"pid_start\": .*,/\"pid_start\": $2,/" \
        -e "s/\"host\": .*,/\"host\": \"${3:-$(hostname)}\",/" \
        "$scratch/done.json" >"$dir/status.json"
}
cp "$dir/status.json" "$scratch/done.json"
change $$ "$start"
refused "process $$ on $(hostname) is running in" --overwrite
run plot "$dir"
grep -q 'still running, after step 3' "$scratch/err" || fail "alive"
for case in "$$ 1 " "$$ $start elsewhere"; do
    # shellcheck disable=SC2086
    change $case
    run plot "$dir" --out "$scratch/plots"
    grep -q 'the run did not finish: .*killed after step 3' "$scratch/err" ||
        fail "killed: $(cat "$scratch/err")"
    run report "$dir"
    grep -q 'the run did not finish' "$scratch/err" || fail "report: no warning"
    grep -q '<h1>good (the run did not finish' "$dir/report.html" ||
        fail "report: no state"
    grep -q 'good (the run did not finish' "$scratch"/plots/*.svg ||
        fail "plot: no state"
done
: >"$dir/checkpoint-7.h5" # later than what was recorded
run plot "$dir"
grep -q 'killed after step 7 or later' "$scratch/err" ||
    fail "newest checkpoint: $(cat "$scratch/err")"
rm "$dir/checkpoint-7.h5"

# No such process, and a record without a start; another host.
change 999999999 0
run run "$deck" -n 1 --quiet --overwrite
[ "$status" -eq 0 ] || fail "no process: $(cat "$scratch/err")"
change $$ "$start" elsewhere
sed -i "s/\"written\": .*/\"written\": $(($(date +%s) - 20))/" "$dir/status.json"
refused "process $$ on elsewhere was running in out/good 2.* s ago: .* if it is \
dead, remove out/good/status.json" --overwrite
sed -i "s/\"written\": .*/\"written\": $(($(date +%s) - 90))/" "$dir/status.json"
run run "$deck" -n 1 --quiet --overwrite
[ "$status" -eq 0 ] || fail "90 s ago elsewhere: $(cat "$scratch/err")"

# two ARGS...: of two runs at the same time, whose removal of files takes some
# seconds, one is refused and the other does not notice.
two() {
    mkdir -p "$scratch/disk"
    rm -f "$scratch/disk"/*
    for i in 1 2; do
        (
            cd "$scratch/cwd" || exit 99
            STORM_DISK=$scratch/disk STORM_DISK_UNDER=out/good \
                STORM_DISK_FAULT="remove 0 slow" \
                "$STORM_BUILD/tests/storm_disk" run "$@" -n 1 --quiet \
                >"$scratch/out$i" 2>"$scratch/err$i" </dev/null
            echo $? >"$scratch/status$i"
        ) &
    done
    wait
    checks=$((checks + 2))
    found=$(sort "$scratch/status1" "$scratch/status2" | tr '\n' ' ')
    [ "$found" = "0 2 " ] ||
        fail "two: run $*: status $found: $(cat "$scratch/err1" "$scratch/err2")"
    [ "$(cat "$scratch/err1" "$scratch/err2" |
        grep -c "process [0-9]* on $(hostname) is running in out/good")" -eq 1 ] ||
        fail "two: run $*: $(cat "$scratch/err1" "$scratch/err2")"
    [ "$(state status.json)" = "done" ] || fail "two: run $*: not done"
}
steps="--set output.every=1 --set output.checkpoint.every=2 --set time.stop=9e-12"
# shellcheck disable=SC2086
run run "$deck" -n 2 --quiet --overwrite $steps
# shellcheck disable=SC2086
two "$deck" --overwrite $steps
rm "$dir"/checkpoint-[3-9].h5
two --restart out/good

# Killed while it removes the files of another.
rm -f "$scratch/disk"/*
(cd "$scratch/cwd" && STORM_DISK=$scratch/disk STORM_DISK_UNDER=out/good \
    STORM_DISK_FAULT="remove 4 off" "$STORM_BUILD/tests/storm_disk" \
    run "$deck" -n 1 --quiet --overwrite) >"$scratch/out" 2>"$scratch/err"
[ -e "$dir/mesh.h5" ] || [ -e "$dir/summary.json" ] || fail "killed: too late"
run run --restart out/good -n 1
[ "$status" -eq 2 ] && grep -q 'deck.yaml' "$scratch/err" ||
    fail "killed: restart, status $status: $(cat "$scratch/err")"
run plot out/good
[ "$status" -ne 0 ] || fail "killed: drawn"
run run "$deck" -n 1 --quiet --overwrite
[ "$status" -eq 0 ] || fail "after a kill: $(cat "$scratch/err")"

: >"$dir/status.json" # cut short
refused "holds a run"
run plot "$dir" --quiet
[ ! -s "$scratch/err" ] || fail "--quiet talks"
finish
