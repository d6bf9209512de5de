#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 300; label: mpi slow-asan slow-mpich
#
# A rank that is killed in the middle of a run ends the whole job within 15 s,
# with a message that names it, also if the launcher leaves the others alone;
# nothing stays behind in shared memory. (Not with MPICH, whose launcher kills
# all others before they can print, unless it is configured not to.) Other
# backends, and every phase of a run: tests/kill/campaign.sh.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

STORM_TEST_MARK=$$-$(date +%s)
export STORM_TEST_MARK

# Those processes of this test that are rank $1; all ranks without it.
ranks() {
    grep -azl "^STORM_TEST_MARK=$STORM_TEST_MARK\$" /proc/[0-9]*/environ \
        2>/dev/null | while read -r file; do
        tr '\0' '\n' 2>/dev/null <"$file" |
            grep -Eq "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=${1:-[0-9]+}\$" &&
            basename "$(dirname "$file")"
    done
}

# Files there that carry the number of one of the processes $1. (What MPI leaves
# there is its own.)
shared_memory() {
    for process in $1; do
        find /dev/shm -name "*$process*" ! -name 'vader*' ! -name 'osc_rdma*' \
            ! -name 'mpich*' 2>/dev/null
    done
}

# lose WHAT VICTIM STATUS ARGS...: kill that rank. STATUS: no = not 0
lose() {
    what=$1 victim=$2 wanted=$3
    shift 3
    "$STORM_BIN" bench uniform --cells 20000 --cycles 100000 --timed 1 "$@" \
        --progress always >"$scratch/out" 2>"$scratch/err" &
    job=$!
    # In the middle: the beginning is over.
    for _ in $(seq 300); do
        grep -aq 'cycle [2-9]' "$scratch/err" && break
        sleep 0.1
    done
    all=$(ranks)
    # On a busy machine a list of all processes may miss one.
    for _ in 1 2 3 4 5; do
        process=$(ranks "$victim")
        [ -z "$process" ] || break
        sleep 0.2
    done
    if [ -z "$process" ]; then
        fail "$what: no rank $victim: $(tail -c 300 "$scratch/err")"
        kill -9 $job
        return
    fi
    # shellcheck disable=SC2086
    kill -9 $process
    begin=$(date +%s)
    wait $job
    status=$?
    while [ -n "$(ranks)" ] && [ $(($(date +%s) - begin)) -lt 20 ]; do
        sleep 0.2
    done
    took=$(($(date +%s) - begin))
    [ "$wanted" != no ] || [ $status -ne 0 ] || fail "$what: exit status 0"
    [ $took -le 15 ] || fail "$what: $took s until all had ended"
    grep -q "rank $victim is lost" "$scratch/err" ||
        fail "$what: no message names rank $victim: $(cat "$scratch/err")"
    left=$(shared_memory "$all")
    [ -z "$left" ] || fail "$what: left behind: $left"
    for process in $(ranks); do kill -9 "$process"; done
    echo "$what: status $status, $took s"
}

lose "shared memory" 2 no -n 4
if "$STORM_BIN" info | grep -q '^  ofi .* works$'; then
    lose "libfabric, shm" 1 no -n 3 --backend ofi --provider shm --no-shm
fi
# Open MPI's launcher then ends with 0 whatever its ranks do.
case $("$STORM_BIN" info | sed -n 's/^  MPI  *//p') in
"Open MPI"*) alone="--enable-recovery" any=any ;;
*) alone="-disable-auto-cleanup" any=no ;;
esac
lose "left alone" 2 $any -n 4 --launcher "$STORM_MPIEXEC $alone"

finish
