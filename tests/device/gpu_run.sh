#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 40; label: slow-asan
#
# The program on a driver without a GPU (tests/cuda): the bits of the processor,
# one rank with a GPU beside one without, and GPUs that are lost.
set -eu
. "$(dirname "$0")/../cli/cli.sh"
fake=$STORM_BUILD/tests/cuda

# bench ENV RANKS: ENV are settings of rank 0, the others compute by themselves.
bench() {
    status=0
    checks=$((checks + 1))
    set -- "$1" $(($2 - 1)) \
        "$STORM_BIN bench uniform --mesh voronoi --cells 600 --cycles 3 \
        --timed 2 --emit 20 --json -"
    # shellcheck disable=SC2086
    if [ "$2" -eq 0 ]; then
        (cd "$scratch/cwd" && env LD_LIBRARY_PATH="$fake" $1 $3)
    else
        (cd "$scratch/cwd" && "$STORM_MPIEXEC" -n 1 env \
            LD_LIBRARY_PATH="$fake" $1 $3 : -n "$2" env STORM_DEVICE=none $3)
    fi >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
}

# says TEXT: on standard error, once.
says() {
    n=$(grep -c "$1" "$scratch/err") || true
    [ "$n" -eq 1 ] || fail "$n times '$1': $(head -5 "$scratch/err")"
}

LD_LIBRARY_PATH=$fake "$STORM_BIN" info >"$scratch/info"
if grep -q 'PTX *none' "$scratch/info"; then
    echo "this build has no kernels for GPUs" >&2
    exit 77
fi
grep -q 'gpu 0 *Fake GPU 0, 1 GiB, sm_90, driver for CUDA 12.4$' \
    "$scratch/info" || fail "storm info: $(cat "$scratch/info")"

bench STORM_DEVICE=none 1
hash=$(hash_of)
[ -n "$hash" ] || fail "no state: $(cat "$scratch/err")"
for ranks in 1 2; do
    bench STORM_DEVICE=auto $ranks
    [ "$status" -eq 0 ] || fail "$ranks ranks: $(cat "$scratch/err")"
    [ "$(hash_of)" = "$hash" ] || fail "$ranks ranks have another state"
    grep -q '"device": "Fake GPU 0"' "$scratch/out" || fail "no GPU was used"
done

# A GPU that does not start: auto goes on.
bench "STORM_DEVICE=auto STORM_FAKE_CUDA_FAIL=cuInit_1_803" 1
[ "$status" -eq 0 ] && [ "$(hash_of)" = "$hash" ] || fail "auto does not go on"
says "a GPU is not used: the driver does not start"
bench "STORM_DEVICE=gpu STORM_FAKE_CUDA_FAIL=cuInit_1_803" 1
[ "$status" -ne 0 ] || fail "gpu goes on without one"
says "no device gpu on rank 0"

# One that is lost ends the run, on all ranks.
for plan in cuLaunchKernel_3_719 cuEventQuery_9_700 cuMemcpyDtoHAsync_v2_2_700; do
    for ranks in 1 2; do
        bench "STORM_DEVICE=gpu STORM_FAKE_CUDA_FAIL=$plan" $ranks
        [ "$status" -ne 0 ] || fail "$plan, $ranks ranks: nothing is lost"
        says "the GPU of rank 0 (Fake GPU 0) failed"
    done
done
finish
