#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# all.sh BUILD [PATTERN]
#
# Everything that needs an RDMA device, on a machine that has one: the fabric
# ibv, and ofi over its verbs provider, against the contract, plain and under
# chaos, on 2 and 4 ranks; rings; equal states. `make check-rdma` runs it inside
# tools/rdma-vm. With a pattern (grep -E) only the tests whose names match.
# Ends with "N passed, N failed, N skipped"; exit status 1 if any failed, 77 if
# none could run. Logs of failures go to $STORM_VM_RESULTS.
set -u
build=${1:?usage: all.sh BUILD [PATTERN]}
pattern=${2:-.}
build=$(cd "$build" && pwd) || exit 1
storm=$build/storm
mpiexec=${STORM_MPIEXEC:-mpiexec}
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
    timeout -k 5 "$limit" "$@" >"$log" 2>&1
    status=$?
    case $status in
    0)
        passed=$((passed + 1))
        printf '%-36s ok      %4d s\n' "$name" $((SECONDS - start))
        return 0
        ;;
    77)
        skipped=$((skipped + 1))
        printf '%-36s skipped %4d s  %s\n' "$name" $((SECONDS - start)) \
            "$(tail -n 1 "$log")"
        ;;
    *)
        failed=$((failed + 1))
        [ $status -ne 124 ] || echo "not done after $limit s" >>"$log"
        printf '%-36s FAILED  %4d s  (status %d)\n' "$name" \
            $((SECONDS - start)) $status
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

# The contract on one fabric; a fabric that cannot be used is one skip.
conform() {
    local fabric=$1 n test name
    for n in 2 4; do
        for test in "$build"/tests/conform/fabric_*; do
            name="$fabric $(basename "$test") $n"
            case $test in *fabric_chaos) continue ;; esac # about shm alone
            wanted "$name" || continue
            try "$name" 400 env STORM_BACKEND="$fabric" \
                "$mpiexec" -np $n "$test" processes
        done
        name="$fabric channel_traffic $n"
        wanted "$name" && try "$name" 400 env STORM_BACKEND="$fabric" \
            STORM_TEST_SLOWDOWN=100 \
            "$mpiexec" -np $n "$build"/tests/channel/channel_traffic processes
    done
}

# What only a device can show; threads are ranks.
device() {
    local test name
    for test in "$build"/tests/rdma/*; do
        name="device $(basename "$test")"
        [ -f "$test" ] && wanted "$name" && try "$name" 200 "$test"
    done
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
        uniform -n 2 --backend shm >"$scratch/reference" 2>&1
        reference=$(hash_of "$scratch/reference")
    fi
    try "$name" 300 bash -c 'one_state "$@"' one_state "$scratch/state" "${reference:-none}" "$@"
}

one_state() {
    local out=$1 want=$2 got
    shift 2
    uniform "$@" | tee "$out" || return 1
    got=$(hash_of "$out")
    [ "$got" = "$want" ] || {
        echo "state_hash $got, not $want"
        return 1
    }
}

# timeout runs programs alone; functions go through a shell of their own.
export -f one_state uniform hash_of
export storm

states() {
    local fabric=$1 n
    reference=""
    for n in 2 4; do
        same_state "$fabric state $n" -n $n --backend "$fabric" --no-shm
        same_state "$fabric state paper $n" -n $n --backend "$fabric" \
            --no-shm --protocol paper --ring-slots 8 --batch 3
        same_state "$fabric state small $n" -n $n --backend "$fabric" \
            --no-shm --ring-slots 1 --batch 1
    done
}

usable() {
    "$storm" info 2>/dev/null | grep -E "^ +$1 " | grep -q works
}

# all_of FABRIC: every test, or one skip with the reason.
all_of() {
    if usable "$1"; then
        conform "$1"
        states "$1"
    else
        skipped=$((skipped + 1))
        echo "$1: skipped: $("$storm" info 2>&1 | sed -n "s/^ *$1 .* no: //p")"
    fi
}

if "$storm" info | grep -q -- -march=; then
    echo "all.sh: skipped: compiled for one processor alone (-march)"
    exit 77
fi
"$storm" info | sed -n '/^backends/,$p'
all_of ibv
device
STORM_PROVIDER="verbs;ofi_rxm" all_of ofi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $passed -gt 0 ] || exit 77
