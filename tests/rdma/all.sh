#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# all.sh BUILD [PATTERN]
#
# Everything that needs an RDMA device, on a machine that has one: the fabric
# ibv, and ofi over its verbs provider, against the contract, plain and under
# chaos, on 2 and 4 ranks; channels; equal states; the ring benchmark; a rank
# that is killed; and what only the device can show. `make check-rdma` runs it
# inside tools/rdma-vm. With a pattern (grep -E) only the tests whose names
# match. Ends with "N passed, N failed, N skipped"; exit status 1 if any failed,
# 77 if none could run. Logs of failures, and what the benchmark measured, go to
# $STORM_VM_RESULTS.
set -u
build=${1:?usage: all.sh BUILD [PATTERN]}
pattern=${2:-.}
build=$(cd "$build" && pwd) || exit 1
storm=$build/storm
mpiexec=${STORM_MPIEXEC:-$(sed -n 's/^MPIEXEC_EXECUTABLE:[^=]*=//p' \
    "$build/CMakeCache.txt")}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# More ranks than cores, as root, and not through the RDMA device itself.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_plm=isolated
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_MCA_osc=^ucx
export OMPI_MCA_btl_vader_single_copy_mechanism=none PMIX_MCA_gds=hash
# Operations take long here; tests then do fewer.
export STORM_TEST_SLOWDOWN=${STORM_TEST_SLOWDOWN:-10000}
# libfabric's rxm asks for more completion entries than Soft-RoCE has.
export FI_UNIVERSE_SIZE=16

passed=0 failed=0 skipped=0

# try NAME LIMIT COMMAND...: one test; its log stays in $log. True if it passed.
try() {
    local name=$1 limit=$2 status start=$SECONDS
    shift 2
    log=$scratch/${name//[ \/]/-}.log
    printf '%-32s ' "$name" # before it runs: it may hang
    timeout -k 5 "$limit" "$@" >"$log" 2>&1
    status=$?
    case $status in
    0)
        passed=$((passed + 1))
        printf 'ok      %4d s\n' $((SECONDS - start))
        return 0
        ;;
    77)
        skipped=$((skipped + 1))
        printf 'skipped %4d s  %s\n' $((SECONDS - start)) \
            "$(tail -n 1 "$log")"
        ;;
    *)
        failed=$((failed + 1))
        [ $status -ne 124 ] || echo "not done after $limit s" >>"$log"
        printf 'FAILED  %4d s  (status %d)\n' $((SECONDS - start)) $status
        tail -n 15 "$log" | sed 's/^/    | /'
        [ -z "${STORM_VM_RESULTS:-}" ] || cp "$log" "$STORM_VM_RESULTS/"
        ;;
    esac
    return 1
}

wanted() {
    echo "$1" | grep -qE "$pattern"
}

# ---- tests -----------------------------------------------------------------

# The contract on one fabric.
conform() {
    local fabric=$1 n test name
    for n in 2 4; do
        for test in "$build"/tests/conform/fabric_*; do
            name="$fabric $(basename "$test") $n"
            wanted "$name" || continue
            case $test in
            *fabric_chaos) ;; # about shm alone
            *fabric_signals)  # MPI has handlers of its own
                try "$name" 400 env STORM_BACKEND="$fabric" "$test" threads $n
                ;;
            *)
                try "$name" 400 env STORM_BACKEND="$fabric" \
                    "$mpiexec" -np $n "$test" processes
                ;;
            esac
        done
        name="$fabric channel_traffic $n"
        wanted "$name" && try "$name" 400 env STORM_BACKEND="$fabric" \
            STORM_TEST_SLOWDOWN=100 \
            "$mpiexec" -np $n "$build"/tests/channel/channel_traffic processes
    done
}

# storm info names every device that the kernel has.
one_info() {
    local device
    cat "$scratch/info"
    for device in /sys/class/infiniband/*; do
        grep -q "^ .*\b${device##*/} port" "$scratch/info" || {
            echo "storm info does not name ${device##*/}"
            return 1
        }
    done
}

# What only a device can show; threads are ranks.
device() {
    local test name="device storm_info"
    wanted "$name" && try "$name" 20 bash -c one_info
    for test in "$build"/tests/rdma/*; do
        name="device $(basename "$test")"
        [ -f "$test" ] && wanted "$name" && try "$name" 200 "$test"
    done
}

# In the loop MPI is called only to look for control messages.
no_mpi() {
    local name="$1 engine_no_mpi 2"
    wanted "$name" && try "$name" 300 env STORM_BACKEND="$1" STORM_SHM=no \
        "$mpiexec" -np 2 "$build"/tests/engine/engine_no_mpi
}

hash_of() {
    sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' "$1"
}

uniform() {
    "$storm" bench uniform --cells 1000 --emit 3 --cycles 3 --timed 1 \
        --json - "$@"
}

# same_state NAME ARGS...: as $reference, which is taken here and now: another
# processor may have other variants of the mathematical functions.
same_state() {
    local name=$1
    shift
    wanted "$name" || return 0
    if [ -z "$reference" ]; then
        uniform -n 1 --backend shm >"$scratch/reference" 2>&1
        reference=$(hash_of "$scratch/reference")
        echo "reference: state_hash ${reference:=none}, 1 rank, shm"
    fi
    try "$name" 300 bash -c 'one_state "$@"' one_state "$reference" "$@"
}

one_state() {
    local want=$1 out=$scratch/state got
    shift
    uniform "$@" >"$out"
    cat "$out"
    got=$(hash_of "$out")
    if [ "$want" = none ] || [ "$got" != "$want" ]; then
        echo "state_hash '$got', not '$want'"
        return 1
    fi
    grep -qE '"pinned_memory_mb": *[0-9.]*[1-9]' "$out" || {
        echo "no locked memory in the statistics"
        return 1
    }
}

# Both protocols beside the limit, for each batch. A ring has two ends, hence 2
# ranks.
one_ring() {
    local out=$1 fabric=$2 commas=${ring_batches//[!,]/} n
    "$storm" bench ring -n 2 --no-shm --backends "$fabric" --seconds 0.1 \
        --batch "$ring_batches" --json - >"$out" 2>"$scratch/ring-errors"
    local status=$?
    cat "$out" "$scratch/ring-errors"
    if [ $status -ne 0 ] && grep -q 'not supported' "$scratch/ring-errors"; then
        echo "bench ring: $(head -n 1 "$scratch/ring-errors")"
        return 77
    fi
    [ $status -eq 0 ] || return 1
    n=$(grep -cE '"ns_per_batch": *0*[1-9.]' "$out")
    [ "$n" -eq $((2 * (${#commas} + 1))) ] || {
        echo "$n measurements for batches of $ring_batches"
        return 1
    }
}

# The interesting part of what it measured, a line for each.
show_ring() {
    { tr -d '\n' <"$1" && echo; } | tr '{' '\n' | sed -nE \
        -e 's/\.[0-9]+([,} ])/\1/g' \
        -e 's/.*"protocol": *"([a-z]+)".*"batch": *([0-9]+).*"ns_per_batch": *([0-9e+]+),.*"limit_ns_per_batch": *([0-9e+]+),.*/    \1, batch \2: \3 ns, limit \4 ns/p'
}

ring() {
    local fabric=$1 name="$1 bench ring 2" out
    out=${STORM_VM_RESULTS:-$scratch}/ring-$fabric.json
    wanted "$name" || return 0
    try "$name" 400 bash -c 'one_ring "$@"' one_ring "$out" "$fabric" &&
        show_ring "$out"
}

# The processes of our own ranks; with a number, of that one.
our_ranks() {
    local pid
    for pid in $(pgrep -x storm); do
        tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" |
            grep -cxE "STORM_TEST_MARK=$mark|OMPI_COMM_WORLD_RANK=${1:-[0-9]+}" |
            grep -qx 2 && echo "$pid"
    done
}

# The process of a rank, once it has memory locked for the network.
rank_at_work() {
    local pid
    for _ in {1..100}; do
        pid=$(our_ranks "$1")
        [ -z "$pid" ] ||
            grep -qE 'VmPin:[[:space:]]*0 kB' "/proc/$pid/status" ||
            break
        sleep 0.3
    done
    echo "${pid:?rank $1 did not come to work}"
}

# one_killed FABRIC N LIFELINE: the last rank is killed in the middle of a long
# step. The launcher leaves the others alone, with --enable-recovery; its exit
# status means nothing then. With the lifeline all ranks end soon. Without it
# the network has to notice, and name the rank, after 3.8 s.
one_killed() {
    local fabric=$1 n=$2 lifeline=$3 last=$(($2 - 1)) job pid
    local out=$scratch/killed want="rank $(($2 - 1)) is lost" start
    [ "$lifeline" = yes ] || want="transfer to rank $last failed"
    "$mpiexec" --version 2>&1 | grep -qE 'Open(RTE| MPI)' || {
        echo "only written for Open MPI's mpiexec"
        return 77
    }
    STORM_LIFELINE=$lifeline STORM_SILENCE_S=3 STORM_TEST_MARK=$mark \
        "$mpiexec" --enable-recovery -np "$n" "$storm" \
        bench uniform --cells 1000 --emit 20 --crossings 100000 --cycles 2 \
        --timed 1 --backend "$fabric" --no-shm >"$out" 2>&1 &
    job=$!
    pid=$(rank_at_work $last) || {
        cat "$out"
        return 1
    }
    sleep 3
    kill -KILL "$pid"
    start=$SECONDS
    for _ in {1..100}; do
        kill -0 $job 2>/dev/null || break
        [ "$lifeline" = yes ] || ! grep -q "$want" "$out" || break
        sleep 0.3
    done
    cat "$out"
    if [ "$lifeline" = yes ] && [ -n "$(our_ranks)" ]; then
        echo "still running $((SECONDS - start)) s after rank $last was killed"
        return 1
    fi
    grep "$want" "$out" >"$scratch/found" || return 1
    echo "after $((SECONDS - start)) s: $(head -n 1 "$scratch/found")"
}

# killed FABRIC N LIFELINE
killed() {
    local pid name="$1 rank killed $2"
    [ "$3" = yes ] || name="$1 rank killed, no lifeline $2"
    wanted "$name" || return 0
    try "$name" 120 bash -c 'one_killed "$@"' one_killed "$@" &&
        tail -n 1 "$log" | sed 's/^/    /'
    for pid in $(our_ranks); do # those that hang
        kill -KILL "$pid"
    done
}

# timeout runs programs alone; functions go through a shell of their own.
export -f one_info one_state one_ring one_killed our_ranks rank_at_work
export -f uniform hash_of
export storm mpiexec scratch mark=$$
export ring_batches=${STORM_TEST_RING_BATCHES:-1,8,64}

states() {
    local fabric=$1 n
    for n in 2 4; do
        same_state "$fabric state $n" -n $n --backend "$fabric" --no-shm
        same_state "$fabric state paper $n" -n $n --backend "$fabric" \
            --no-shm --protocol paper --ring-slots 8 --batch 3
        same_state "$fabric state small $n" -n $n --backend "$fabric" \
            --no-shm --ring-slots 1 --batch 1
    done
    same_state "$fabric state hybrid 4" -n 4 --backend "$fabric" \
        --ranks-per-node 2
}

skip() {
    skipped=$((skipped + 1))
    echo "$*"
}

# all_of FABRIC: every test, or one skip with the reason.
all_of() {
    STORM_BACKEND=$1 "$build"/tests/conform/fabric_self threads 1 \
        >"$scratch/first" 2>&1
    if [ $? -eq 77 ]; then
        skip "$1: skipped: $(head -n 1 "$scratch/first")"
        return
    fi
    conform "$1"
    no_mpi "$1"
    states "$1"
    ring "$1"
    killed "$1" 2 yes
    killed "$1" 4 yes
}

"$storm" info >"$scratch/info" 2>&1
if grep -q -- -march= "$scratch/info"; then
    skip "all.sh: skipped: compiled for one processor alone (-march)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
sed -n '/^backends/,$p' "$scratch/info"
reference=""
all_of ibv
killed ibv 2 no
killed ibv 4 no
device
STORM_PROVIDER="verbs;ofi_rxm" all_of ofi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
