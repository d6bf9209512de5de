# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # sourced behind cli.sh
#
# The same state on any number of ranks, over every backend, with any partition
# and after a restart. The test has the deck in $deck, its settings in $sets,
# the state in $right (empty: that of the next run) and a function
#
#   same ARGS...   runs the deck with these, and calls `look`

# look NAME DIR: the last run did well, and each of its six steps balances; its
# state is that of the first run.
look() {
    [ "$status" -eq 0 ] || fail "$1: exit status $status: $(cat "$scratch/err")"
    hash=$(hash_of)
    : "${right:=$hash}"
    [ "${hash:-none}" = "$right" ] || fail "$1: state $hash, not $right"
    awk -F, '/^#/ { next }
        !last { for (i = 1; i <= NF; i++) if ($i == "balance") last = i
                next }
        { n++; if ($last > 1e-13 || $last < -1e-13) bad = 1 }
        END { exit bad || n != 6 }' "$2/history.csv" ||
        fail "$1: does not balance: $(cat "$2/history.csv")"
}

has_ofi=no
if "$STORM_BIN" info | grep -q '^  ofi .* works$' &&
    ! "$STORM_BIN" info | grep -q '^  MPI  *MPICH'; then
    has_ofi=yes
fi

# every: on all numbers of ranks, over all backends, with partitions
# that change.
every() {
    for n in 1 2 3 5 8; do
        same -n $n --set balance.host=cells
        same -n $n --backend p2p --no-shm
        same -n $n --backend mpirma --no-shm --set balance.every=1
        [ $has_ofi = yes ] || continue
        for provider in 'tcp;ofi_rxm' shm sockets; do
            same -n $n --backend ofi --no-shm --provider $provider \
                --set balance.every=2 --set balance.threshold=1
        done
    done
}

# some: on a few numbers of ranks, over each backend.
some() {
    same -n 2 --backend p2p --batch 7 --set balance.weight=none
    same -n 3 --set balance.host=cells --set balance.every=1 \
        --set balance.threshold=1
    same -n 5 --set balance.every=2 --set balance.threshold=1
    same -n 8 --set balance.host=cells
    same -n 3 --backend mpirma --no-shm --set balance.every=1
    [ $has_ofi = yes ] || return 0
    same -n 3 --backend ofi --no-shm --provider 'tcp;ofi_rxm'
    same -n 2 --backend ofi --no-shm --provider shm --ring-slots 1 --batch 1
}

# restarted RANKS: four steps on two ranks, then two on each of these
# numbers of ranks, with a new partition after each step.
restarted() {
    # shellcheck disable=SC2086
    run run "$deck" --quiet --out "$scratch/four" -n 2 $sets \
        --set time.steps=4 --set output.checkpoint.every=4 --overwrite
    [ "$status" -eq 0 ] || fail "4 steps, $sets: $(cat "$scratch/err")"
    for n in $1; do
        rm -rf "$scratch/part"
        cp -r "$scratch/four" "$scratch/part"
        run run --restart "$scratch/part" --quiet --json - -n "$n" \
            --set time.steps=6 --set balance.every=1 \
            --set balance.threshold=1
        look "$sets, restarted on $n" "$scratch/part"
    done
}
