#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# memory.sh BUILD: no action of the simulation uses memory that a rank has freed.
# A wait that ends early leaves its alarm behind (SIMTIME-4).
set -eu

build=$1
command -v valgrind >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for backend in sim p2p; do
    "$(dirname "$0")/../../tools/lab/smpiexec" -n 3 \
        --cfg=contexts/factory:thread \
        -wrapper "valgrind --log-file=$scratch/log" \
        "$build/storm-sim" transport.backend=$backend cells-per-rank=10 \
        cycles=1 timed=1 json="$scratch/point.json"
    grep -q "ERROR SUMMARY: 0 errors" "$scratch/log" || {
        cat "$scratch/log" >&2
        exit 1
    }
done
