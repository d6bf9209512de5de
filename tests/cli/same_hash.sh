#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 400; label: mpi slow-asan
#
# The state of a small case is the same, bit for bit, on any number of ranks,
# over any backend and protocol, with any batch and size of rings. Every choice
# is made once or twice, not with every number of ranks; run_decks.sh and the
# invariance tests of engine and physics have further pairs.
set -u
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$(dirname "$0")/cli.sh"

# same ARGS...: the hash equals $reference (which the first run sets).
same() {
    run bench uniform --cells 1000 --emit 3 --cycles 3 --timed 1 --json - \
        --kernel-seconds 0.001 "$@"
    [ "$status" -eq 0 ] ||
        fail "$*: exit status $status: $(cat "$scratch/err")"
    hash=$(hash_of)
    : "${reference:=$hash}"
    [ "${hash:-none}" = "$reference" ] ||
        fail "$*: $hash, not $reference"
}

reference=
same -n 1
same -n 5
same -n 3 --backend p2p --batch 7
same -n 3 --no-shm
same -n 2 --protocol paper
same -n 3 --protocol paper --ring-slots 8 --batch 3
same -n 3 --ring-slots 1 --batch 1
same -n 2 --batch 512 --ring-slots 4096 --no-statistics
same -n 5 --ring-slots 2 --growth-factor 1.5 --set transport.control_every=1
same -n 3 --growth sync --ring-slots 8 --backend mpirma --no-shm
same -n 3 --backend mpirma --no-shm --protocol paper --ring-slots 8 --batch 3
same -n 5 --backend mpirma --ranks-per-node 2

# libfabric is the same over either MPI.
if "$STORM_BIN" info | grep -q '^  ofi .* works$' &&
    ! "$STORM_BIN" info | grep -q '^  MPI  *MPICH'; then
    same -n 3 --backend ofi --no-shm --provider 'tcp;ofi_rxm'
    same -n 5 --backend ofi --no-shm --provider shm
    same -n 3 --backend ofi --no-shm --provider sockets
    same -n 1 --backend ofi --no-shm
    same -n 3 --backend ofi --no-shm --ring-slots 1 --batch 1
    same -n 5 --backend ofi --ranks-per-node 3 --protocol paper
    same -n 4 --backend ofi
fi

# Another seed is another state.
run bench uniform --cells 1000 --emit 3 --cycles 3 --timed 1 --json - -n 2 \
    --seed 2
[ "$(hash_of)" != "$reference" ] || fail "the seed does not matter"

finish
