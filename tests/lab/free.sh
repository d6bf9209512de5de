#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# free.sh BUILD: ranks of a machine whose polls, tests and operations cost
# nothing still wait for each other in simulated time, and compute what all do.
set -eu

build=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

hash=
nothing="-c poll_s=0 -c post_s=0 -c test_s=0 -c send_s=0 -c receive_s=0"
for costs in "" "$nothing"; do
    for backend in sim p2p; do
        # shellcheck disable=SC2086 # words
        timeout 100 "$(dirname "$0")/../../tools/lab/smpiexec" -n 8 $costs \
            "$build/storm-sim" transport.backend=$backend cells-per-rank=20 \
            cycles=2 timed=1 json="$scratch/$backend.json" || {
            echo "free: $backend, costs '$costs': exit status $?" >&2
            exit 1
        }
        new=$(sed -n 's/^ *"state_hash": "\(.*\)".*/\1/p' \
            "$scratch/$backend.json")
        if [ "${hash:=$new}" != "$new" ] || [ -z "$new" ]; then
            echo "free: $backend, costs '$costs': another hash" >&2
            exit 1
        fi
    done
done
