#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 60; label: mpi slow-mpich
#
# Ranks whose exp, log and pow differ are warned about, once; others are not.
# Only if fused multiply-add of the C library can be switched off.
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
        -n 1 "$STORM_BIN" bench termination --steps 2 --json - : \
        -n 1 env GLIBC_TUNABLES="$1" "$STORM_BIN" bench termination \
        --steps 2 --json - >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    checks=$((checks + 1))
    [ "$status" -eq 0 ] ||
        fail "'$1': exit status $status: $(cat "$scratch/err")"
    warnings=$(grep -c 'exp, log and pow are not the same' "$scratch/err")
}

two ""
[ "$warnings" -eq 0 ] || fail "warned about equal ranks"
two "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2_Usable,-FMA_Usable,-AVX2"
[ "$warnings" -eq 1 ] || fail "$warnings warnings: $(cat "$scratch/err")"
finish
