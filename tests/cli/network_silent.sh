#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 100; label: mpi slow-asan slow-mpich
# TEST timeout: 200; args: 10; label: mpi long
#
# A network that is silent for some seconds (the first argument, default 3)
# costs time and nothing else: the run ends with the same bits. One that is
# silent for longer than transport.silence_s ends the run, with the reason.
# The network is the loopback of a name space of this test's own, which carries
# packets (libfabric over TCP, Open MPI over TCP) and lifelines alike. MPI's own
# messages go through shared memory unless they are what is tried.
set -u
if [ "${STORM_TEST_ALONE:-}" != yes ]; then
    unshare -n ip link set lo up 2>/dev/null || {
        echo "cannot make a network of its own (unshare -n, ip)"
        exit 77
    }
    STORM_TEST_ALONE=yes exec unshare -n "$0" "$@"
fi
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"
silent_s=${1:-3}
ip link set lo up

# start CYCLES ARGS...: a run that is in the middle; $job is its process.
start() {
    cycles=$1
    shift
    : >"$scratch/err" # what the last run printed is not what we wait for
    "$STORM_BIN" bench uniform --cells 2000 --cycles "$cycles" --timed 1 \
        --progress always --json "$scratch/json" "$@" >"$scratch/out" \
        2>"$scratch/err" &
    job=$!
    for _ in $(seq 600); do
        grep -aq 'cycle [2-9]' "$scratch/err" && break
        sleep 0.05
    done
}

state_hash() {
    grep -o '"state_hash"[^,]*' "$scratch/json"
}

# pause WHAT ARGS...: silent for a while, and the same bits. On a busy machine
# the run may be over before the network is: one of a few must wait for it.
pause() {
    what=$1
    shift
    waited=no
    for _ in 1 2 3 4 5; do
        rm -f "$scratch/json"
        start 30 "$@"
        ip link set lo down
        sleep "$silent_s"
        kill -0 $job 2>/dev/null && waited=yes
        ip link set lo up
        wait $job || fail "$what: ended: $(cat "$scratch/err")"
        [ "$(state_hash)" = "$wanted" ] ||
            fail "$what: other bits: $(state_hash)"
        [ $waited = no ] || break
    done
    [ $waited = yes ] || fail "$what: did not wait for the network"
    checks=$((checks + 1))
}

# cut WHAT ARGS...: silent for longer than the limit.
cut() {
    what=$1
    shift
    start 1000000 "$@" --silence-s 2 # it is not to end by itself
    ip link set lo down
    from=$(date +%s)
    for _ in $(seq 300); do
        grep -q 'is lost' "$scratch/err" && break
        sleep 0.1
    done
    # The limit, the next probe, and a busy machine.
    [ $(($(date +%s) - from)) -le 25 ] || fail "$what: too late"
    ip link set lo up # for the launcher
    wait $job && fail "$what: exit status 0"
    # Each is lost to the other; either may be the first to say so.
    grep -q 'rank [01] is lost: nothing has come from its machine for 2 s' \
        "$scratch/err" || fail "$what: no reason: $(cat "$scratch/err")"
    checks=$((checks + 1))
}

start 30 -n 1
wait $job || fail "one rank: $(cat "$scratch/err")"
wanted=$(state_hash)

try() {
    pause "$@"
    cut "$@"
}

case $("$STORM_BIN" info | sed -n 's/^  MPI  *//p') in
"Open MPI"*)
    export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
    try "messages" -n 2 --backend p2p --no-shm
    OMPI_MCA_btl=vader,self
    unset OMPI_MCA_btl_tcp_if_include
    ;;
esac
if "$STORM_BIN" info | grep -q '^  ofi .* works$'; then
    try "libfabric" -n 2 --backend ofi --no-shm --provider 'tcp;ofi_rxm'
fi
finish
