#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST args: fail 4; timeout: 120; label: mpi slow-asan slow-mpich
# TEST args: full 3; timeout: 120; label: mpi slow-asan slow-mpich
# TEST args: off 4; timeout: 120; label: mpi slow-asan slow-mpich
# TEST args: fail all; timeout: 3000; label: mpi long
# TEST args: full all; timeout: 1200; label: mpi long
# TEST args: off 200; timeout: 1800; label: mpi long
#
# A run whose disk fails (FILES-1 to FILES-3, H5-6, CHECKPOINT-2): at the n-th
# write, sync or rename (`fail`), because it is full (`full`), or because all
# processes are killed and what was not synced is lost (`off`). Every file with
# its final name is complete, the reason is printed once, and a restart gives
# the bits of a run that was not disturbed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
mode=$1 points=$2
deck=$here/../../examples/decks/marshak.yaml
program=$STORM_BUILD/tests/storm_disk
seed=${STORM_TEST_SEED:-1}
echo "$mode $points, seed $seed"

# Small, and most of its calls are for output; `off` is about checkpoints.
sets="--set mesh.cells=[8,1,1] --set time.steps=4 --set time.dt=2e-11
    --set boundaries.x_lo.packets=50 --set output.profile.bins=2
    --set output.checkpoint.keep=2"
case $mode in
off) sets="$sets --set output.every=0 --set output.checkpoint.every=1" ;;
*) sets="$sets --set output.every=2 --set output.checkpoint.every=2" ;;
esac

# simulate PROGRAM DIR [ENV...]: leaves $status and $scratch/err.
simulate() {
    what=$1 dir=$2
    shift 2
    status=0
    # shellcheck disable=SC2086
    env "$@" "$what" run "$deck" $sets --quiet --out "$dir" -n 2 \
        >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    checks=$((checks + 1))
}

hash_of() {
    sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' "$1"
}

# check_files NAME DIR: what has its final name is as in the undisturbed run.
check_files() {
    for file in "$2"/*; do
        case ${file##*/} in
        *.part) fail "$1: ${file##*/} is left" ;;
        fields-*.h5 | mesh.h5 | profile-*.csv | deck.yaml | partition.csv)
            cmp -s "$file" "$scratch/whole/${file##*/}" ||
                fail "$1: ${file##*/} is not complete" ;;
        fields.xdmf)
            [ "$(tail -n 1 "$file")" = "</Xdmf>" ] ||
                fail "$1: fields.xdmf is not complete" ;;
        summary.json)
            [ "$(hash_of "$file")" = "$right" ] ||
                fail "$1: summary.json is not complete" ;;
        esac
    done
}

# refused NAME DIR: status 1, one line with the reason, no crash. A run goes on
# if it cannot report its step in status.json or history.csv: it has all its
# files then.
refused() {
    if [ "$status" -eq 0 ] && [ -n "${2:-}" ] &&
        [ "$(ls "$2")" = "$(ls "$scratch/whole")" ] &&
        [ "$(hash_of "$2/summary.json")" = "$right" ] &&
        [ "$(till_balance "$2/history.csv")" = "$rows" ] &&
        ! grep -q 'storm: error' "$scratch/err"; then
        return
    fi
    [ "$status" -eq 1 ] || fail "$1: exit status $status: $(cat "$scratch/err")"
    [ "$(grep -c 'cannot write' "$scratch/err")" -eq 1 ] ||
        fail "$1: not one reason: $(cat "$scratch/err")"
    grep -Eq 'cannot write .*: (No space|Disk quota|Input/output)' \
        "$scratch/err" || fail "$1: no reason: $(cat "$scratch/err")"
    ! grep -Eqi 'segmentation|signal|died|HDF5-DIAG' "$scratch/err" ||
        fail "$1: a crash: $(cat "$scratch/err")"
}

# continued NAME DIR: if there is a checkpoint, a restart ends as the run that
# was not disturbed.
continued() {
    set -- "$1" "$2" "$2"/checkpoint-*.h5
    [ -e "$3" ] || return 0
    run run --restart "$2" --json - -n 2
    [ "$status" -eq 0 ] || fail "$1: no restart: $(cat "$scratch/err")"
    [ "$(hash_of "$scratch/out")" = "$right" ] || fail "$1: other bits"
    ! grep -q damaged "$scratch/err" || fail "$1: $(cat "$scratch/err")"
    check_files "$1, restarted" "$2"
    [ "$(till_balance "$2/history.csv")" = "$rows" ] || fail "$1: other rows"
    restarts=$((restarts + 1))
}
restarts=0

# calls I: how many calls of kind I the undisturbed run made.
calls() {
    od -An -td8 -j $((8 * $1)) -N 8 "$scratch/disk/counts" | tr -d ' '
}

# faulty DIR FAULT [FILE]: runs with a fault, of files called FILE alone if given.
faulty() {
    rm -rf "$scratch/disk"
    mkdir "$scratch/disk"
    simulate "$program" "$1" STORM_DISK="$scratch/disk" \
        STORM_DISK_UNDER="${3:-$1}" STORM_DISK_FAULT="$2"
}

# pick N MAX: N random numbers of 1..MAX, or all; the same for the same seed.
pick() {
    if [ "$1" = all ]; then
        seq 1 "$2"
    else
        awk -v n="$1" -v max="$2" -v seed="$seed" 'BEGIN { srand(seed)
            for (i = 0; i < n; i++) print 1 + int(rand() * max) }'
    fi
}

# ---- a call that fails -------------------------------------------------------

# The first step is reported though it writes nothing else: the run goes on if
# that fails, and writes those rows with the next.
fail_report() {
    for call in write sync rename; do
        faulty "$scratch/run" "$call 1 EDQUOT" /history.csv
        [ "$status" -eq 0 ] || fail "report, $call: exit status $status"
        refused "report, $call" "$scratch/run"
        check_files "report, $call" "$scratch/run"
        rm -rf "$scratch/run"
    done
}

fail_all() {
    fail_report
    i=0
    for kind in write sync rename open; do
        case $kind in
        write) total=$writes ;;
        sync) total=$syncs ;;
        rename) total=$renames ;;
        open) total=$opens ;;
        esac
        some=all
        [ "$points" = all ] || some=$((points / 4))
        seed=$((seed + 1))
        for n in $(pick "$some" "$total"); do
            i=$((i + 1))
            case $((i % 4)) in
            0) why=EIO ;;
            1) why=ENOSPC ;;
            2) why=EDQUOT ;;
            3) why=half ;;
            esac
            faulty "$scratch/run" "$kind $n $why"
            refused "$kind $n $why" "$scratch/run"
            check_files "$kind $n $why" "$scratch/run"
            continued "$kind $n $why" "$scratch/run"
            rm -rf "$scratch/run"
        done
    done
}

# ---- a full disk -------------------------------------------------------------

# full_at KILOBYTES: a disk of this size, which then grows.
full_at() {
    name="$1 KiB"
    mount -t tmpfs -o "size=$1k" tmpfs "$scratch/small"
    simulate "$STORM_BIN" "$scratch/small/run"
    if [ "$status" -eq 0 ]; then
        [ "$(hash_of "$scratch/small/run/summary.json")" = "$right" ] ||
            fail "$name: other bits"
        successes=$((successes + 1))
    else
        refused "$name"
    fi
    [ ! -d "$scratch/small/run" ] || check_files "$name" "$scratch/small/run"
    mount -o remount,size=100m "$scratch/small"
    [ ! -d "$scratch/small/run" ] || continued "$name" "$scratch/small/run"
    umount "$scratch/small"
}

full_all() {
    mkdir "$scratch/small"
    mount -t tmpfs -o size=4k tmpfs "$scratch/small" 2>/dev/null || {
        echo "cannot mount a small disk: skipped"
        exit 77
    }
    umount "$scratch/small"
    trap 'umount "$scratch/small" 2>/dev/null; rm -rf "$scratch"' EXIT
    # Pages of tmpfs, and some for directories and the .part of a checkpoint.
    total=$(du -sk --apparent-size "$scratch/whole" | cut -f 1)
    total=$((total + 4 * $(find "$scratch/whole" | wc -l) + 40))
    successes=0
    step=4 # all: one page more
    [ "$points" = all ] || step=$((total / points + 1))
    for size in $(seq 4 "$step" $((total + step))); do
        full_at "$size"
    done
    [ "$successes" -gt 0 ] || fail "no disk was large enough"
}

# ---- a loss of power ---------------------------------------------------------

# What was written and not synced may be lost, and so may a rename.
cat >"$scratch/off.py" <<'PYTHON'
import os, random, sys

random.seed(int(sys.argv[2]))
dirty, renames, durable = {}, [], False
for line in open(sys.argv[1]):
    kind, *words = line.split()
    if kind == "w":
        path, offset, n, pid = words
        dirty.setdefault(path, []).append((pid, int(offset), int(n)))
    elif kind == "s":
        path, pid = words
        dirty[path] = [w for w in dirty.get(path, []) if w[0] != pid]
    elif kind == "r":
        renames.append(words)
        dirty[words[1]] = dirty.pop(words[0], [])
    elif kind == "d":
        durable = durable or any("/checkpoint-" in to for _, to, _ in renames)
        renames = []
for path, writes in dirty.items():
    if writes and os.path.exists(path):
        with open(path, "r+b") as file:
            for _, offset, n in writes:
                if random.random() < 0.5:
                    file.seek(offset)
                    file.write(b"\0" * n)
for old, new, kept in reversed(renames):
    if os.path.exists(new) and not os.path.exists(old) and random.random() < 0.5:
        os.rename(new, old)
        if kept != "-":
            os.link(kept, new)
print("durable" if durable else "none")
PYTHON

# gone: waits until the processes that were killed are no more: a restart of a
# run whose process is still there is refused.
gone() {
    for pid in $(sed -n 's/^p //p' "$scratch/disk/journal"); do
        for _ in $(seq 1 100); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done
}

off_all() {
    need_python
    for n in $(pick "$points" "$every"); do
        rm -rf "$scratch/run"
        faulty "$scratch/run" "any $n off"
        [ "$status" -ne 0 ] || fail "call $n: the power was not off"
        gone
        saved=$(python3 "$scratch/off.py" "$scratch/disk/journal" "$n") ||
            fail "call $n: journal"
        rm -f "$scratch/run"/*.part
        check_files "call $n" "$scratch/run"
        [ "$saved" = none ] ||
            ls "$scratch/run"/checkpoint-*.h5 >"$scratch/ls" ||
            fail "call $n: the checkpoint is lost"
        continued "call $n" "$scratch/run"
    done
}

faulty "$scratch/whole" "any 0 off"
[ "$status" -eq 0 ] || fail "undisturbed: $(cat "$scratch/err")"
right=$(hash_of "$scratch/whole/summary.json")
rows=$(till_balance "$scratch/whole/history.csv")
writes=$(calls 0) syncs=$(calls 1) renames=$(calls 2) opens=$(calls 3)
every=$(calls 5)
echo "$writes writes, $syncs syncs, $renames renames, $every calls"
case $mode in
fail) fail_all ;;
full) full_all ;;
off) off_all ;;
esac
echo "$restarts restarts"
[ "$restarts" -gt 0 ] || fail "no fault left a checkpoint to restart from"
finish
