#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: long
#
# The kernels of streaming and of implicit Monte Carlo and the mathematics have
# the same bits on a 64-bit ARM processor, where the vectors of the compiler
# become NEON: compiled by a cross compiler, without MPI, and run by qemu on the
# cells and packets of track_kernels. What a kernel calls only for users,
# planes, diffusion or other ranks is left out.
set -eu
for program in aarch64-linux-gnu-gcc qemu-aarch64-static; do
    if ! command -v $program >/dev/null; then
        echo "no $program (gcc-aarch64-linux-gnu, qemu-user-static)"
        exit 77
    fi
done
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$STORM_MPIEXEC" -n 1 "$STORM_BUILD/tests/physics/track_kernels" "$scratch/case"
mkdir "$scratch/include"
ln -s "$(sed -n 's/^RANDOM123_INCLUDE_DIR:[A-Z]*=//p' \
    "$STORM_BUILD/CMakeCache.txt")/Random123" "$scratch/include"
for optimize in -O2 -O3; do
    aarch64-linux-gnu-gcc -std=c11 $optimize -ffp-contract=off -D_GNU_SOURCE \
        -Wall -Wextra -Werror -Wno-unused-function -static \
        -I"$source/tests/physics/arm" -I"$source/tests" -I"$source/src" \
        -I"$source/src/base/host" -I"$source/include" \
        -I"$STORM_BUILD/generated" -I"$scratch/include" \
        -Wl,--unresolved-symbols=ignore-all -o "$scratch/track_arm" \
        "$source/tests/physics/arm/track_arm.c" \
        "$source/src/base/base_exact.c" "$source/src/base/base_hash.c" \
        "$source/src/base/base_random.c" \
        "$source/src/physics/walk.c" "$source/src/physics/walk_groups.c" -lm
    aarch64-linux-gnu-objdump -d "$scratch/track_arm" | grep -q 'fdiv.*\.4s' ||
        { echo "$optimize: no NEON in the kernel"; exit 1; }
    qemu-aarch64-static "$scratch/track_arm" "$scratch/case"
done
