#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# same_hash.sh BUILD RANKS [PROGRAM]: simulated ranks do what one rank does with
# the same cells, bit for bit, over rings and over messages, and what two real
# ranks of the program do; charged time is what passes; and an engine starts with
# messages that grow as the logarithm of the ranks.
set -eu

build=$1
ranks=$2
program=${3:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "same_hash: $*" >&2
    exit 1
}

cells=32 # of a rank
simulate() { # RANKS BACKEND CELLS
    STORM_BACKEND=$2 STORM_RING_SLOTS=64 \
        "$(dirname "$0")/../../tools/lab/smpiexec" -n "$1" "$build/storm-sim" \
        cells-per-rank="$3" cycles=2 timed=1 json="$scratch/$2-$1.json" ||
        fail "$2 on $1 ranks: exit status $?"
}

value() { # FILE KEY
    sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\).*/\1/p" "$scratch/$1.json"
}

simulate 1 sim $((cells * ranks))
simulate "$ranks" sim $cells
simulate "$ranks" p2p $cells
hash=$(value sim-1 state_hash)
[ -n "$hash" ] || fail "no hash"
for backend in sim p2p; do
    run=$backend-$ranks
    [ "$(value "$run" state_hash)" = "$hash" ] ||
        fail "$backend: another hash on $ranks ranks than on 1"
    [ "$(value "$run" transfers)" -gt 0 ] || fail "$backend: no transfers"
    # One rank computes all events one after another, each for 1.2 us; many
    # share them, and cannot be faster than that allows.
    awk -v all="$(value sim-1 seconds)" -v part="$(value "$run" seconds)" \
        -v steps="$(value sim-1 steps)" -v ranks="$ranks" 'BEGIN {
        exit !(all > 0.999 * 1.2e-6 * steps && all < 1.01 * 1.2e-6 * steps &&
               part >= all / ranks && part < 4 * all / ranks)
    }' || fail "$backend: $(value "$run" seconds) s on $ranks ranks," \
        "$(value sim-1 seconds) s on 1"
    # 40 messages for each doubling.
    awk -v sent="$(value "$run" start_messages_max)" -v ranks="$ranks" 'BEGIN {
        for (d = 0; 2 ^ d < ranks; d++) continue
        exit !(sent > 0 && sent <= 14 + 40 * d)
    }' || fail "$backend: $(value "$run" start_messages_max) messages to start"
done
if [ -x "$program" ]; then
    "$program" bench uniform -n 2 --mesh cartesian --cells $((cells * ranks)) \
        --cycles 2 --timed 1 --crossings 15 --kernel-seconds 0.001 \
        --progress never --json "$scratch/real-2.json" >/dev/null ||
        fail "real ranks: exit status $?"
    [ "$(value real-2 state_hash)" = "$hash" ] ||
        fail "another hash on real ranks than on simulated ones"
else
    echo "no program beside the simulator: not compared with real ranks"
fi
echo "$ranks ranks: hash $hash"
