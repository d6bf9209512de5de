#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-mpich
#
# Ranks whose C libraries compute exp, log and pow differently, as on nodes of
# different kinds, get the state that equal ranks get (MATH-1). Only if fused
# multiply-add of the C library can be switched off.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
grep -qw fma /proc/cpuinfo 2>/dev/null || {
    echo "this processor has no fused multiply-add" >&2
    exit 77
}

# two TUNABLES: a small benchmark on two ranks, the second one with these.
two() {
    "${STORM_MPIEXEC:-mpiexec}" \
        -n 1 "$STORM_BIN" bench imc --cells 200 --cycles 3 --timed 1 \
        --json - : \
        -n 1 env GLIBC_TUNABLES="$1" "$STORM_BIN" bench imc --cells 200 \
        --cycles 3 --timed 1 --json - \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    checks=$((checks + 1))
    [ "$status" -eq 0 ] ||
        fail "'$1': exit status $status: $(cat "$scratch/err")"
    hash=$(hash_of)
}

two ""
equal=$hash
[ -n "$equal" ] || fail "no state hash: $(cat "$scratch/out")"
two "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2_Usable,-FMA_Usable,-AVX2"
[ "$hash" = "$equal" ] || fail "state $hash, equal ranks have $equal"
finish
