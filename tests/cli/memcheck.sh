#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi long
#
# With tools/memcheck/mpi.supp Valgrind reports nothing of an example, and still
# what a program itself does not free. Skipped without
# Valgrind.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"
command -v valgrind >/dev/null 2>&1 || {
    echo "valgrind is not there"
    exit 77
}
supp=$(cd "$(dirname "$0")/../.." && pwd)/tools/memcheck/mpi.supp

# lost RANKS PROGRAM...: the numbers of bytes and errors, of each rank.
lost() {
    ranks=$1
    shift
    "$STORM_MPIEXEC" -n "$ranks" valgrind --leak-check=full --num-callers=40 \
        --suppressions="$supp" "$@" >"$scratch/out" 2>&1
    sed -n 's/.*\(definitely\|possibly\) lost: \([0-9,]*\) .*/\2/p
        s/.*ERROR SUMMARY: \([0-9]*\) .*/\1/p' "$scratch/out" | sort -u
}

found=$(lost 2 "$STORM_BUILD/examples/step1")
[ "$found" = 0 ] || fail "step1: $(cat "$scratch/out")"

cat >"$scratch/leak.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static void *volatile lost;
    MPI_Init(&argc, &argv);
    lost = malloc(4321);
    lost = NULL;
    return MPI_Finalize();
}
C
mpicc=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$STORM_BUILD/CMakeCache.txt")
"$mpicc" -O0 "$scratch/leak.c" -o "$scratch/leak" || fail "mpicc"
lost 1 "$scratch/leak" >/dev/null
grep -q '4,321 bytes in 1 blocks are definitely lost' "$scratch/out" ||
    fail "a leak is not reported: $(cat "$scratch/out")"
finish
