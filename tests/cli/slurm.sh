#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan
#
# examples/slurm under a Slurm that is made of five scripts: what sbatch sets, what
# srun is asked to start, and what becomes of exit status 3. Ranks are started by
# mpiexec.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=cli.sh
. "$here/cli.sh"
scripts=$here/../../examples/slurm
deck=$here/../../examples/decks/marshak.yaml
[ -n "${STORM_MPIEXEC:-}" ] || exit 77

for script in "$scripts"/*.sbatch; do
    bash -n "$script" || fail "$script: syntax"
    for line in '#SBATCH --nodes=' '#SBATCH --ntasks-per-node=' \
        '#SBATCH --time=' '#SBATCH --output='; do
        grep -q "^$line" "$script" || fail "$script: no $line"
    done
done

# ---- a small Slurm -----------------------------------------------------------

bin=$scratch/bin
mkdir "$bin"
ln -s "$STORM_BIN" "$bin/storm"
make() { # NAME: a program, from standard input
    cat >"$bin/$1"
    chmod +x "$bin/$1"
}
# Options of its command line before the script; a job of --nodes times
# --ntasks-per-node tasks, again as long as it is put back into the queue.
make sbatch <<'END'
#!/bin/bash
nodes=1 tasks=1
set_option() {
    case $1 in
    --nodes=*) nodes=${1#*=} ;;
    --ntasks-per-node=*) tasks=${1#*=} ;;
    --job-name=*) name=${1#*=} ;;
    esac
}
own=()
while [[ $1 == --* ]]; do own+=("$1"); shift; done
for option in $(sed -n 's/^#SBATCH //p' "$1") "${own[@]}"; do
    set_option "$option"
done
export SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_JOB_NAME=$name SLURM_PROCID=0 \
    SLURM_JOB_NUM_NODES=$nodes SLURM_NTASKS=$((nodes * tasks)) \
    SLURM_NTASKS_PER_NODE=$tasks
script=$1
shift
for count in 0 1 2 3 4 5 6 7; do
    rm -f "$FAKE/requeue"
    [ $count -eq 0 ] || export SLURM_RESTART_COUNT=$count
    bash "$script" "$@"
    status=$?
    echo "job $count: $status" >>"$FAKE/jobs"
    [ -e "$FAKE/requeue" ] || exit $status
done
exit 99
END
make srun <<'END'
#!/bin/bash
printf '%s\n' "$*" >>"$FAKE/srun"
while [ "$1" != -n ]; do shift; done
n=$2
shift 2
for name in $(compgen -e SLURM_); do
    [ $name = SLURM_JOB_END_TIME ] || unset $name
done
exec "$STORM_MPIEXEC" -n $n "$@"
END
make squeue <<'END'
#!/bin/sh
[ "$*" = "-h -j 7 -o %e" ] && echo "${FAKE_END:-2099-01-01T00:00:00}"
END
make scontrol <<'END'
#!/bin/sh
[ "$*" = "requeue 7" ] && : >"$FAKE/requeue"
END

# job DIR ARGS...: submit with ARGS; leaves $status, $fake/srun, $fake/jobs.
job() {
    fake=$scratch/$1
    mkdir "$fake"
    shift
    status=0
    (cd "$fake" && FAKE=$fake PATH=$bin:$PATH sbatch "$@") \
        >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    checks=$((checks + 1))
}
good() {
    [ "$status" -eq 0 ] || fail "$1: $status: $(cat "$scratch/out" "$scratch/err")"
}
asked() { # NAME PATTERN: srun was asked for that
    grep -q -e "$2" "$fake/srun" || fail "$1: srun $(cat "$fake/srun")"
}
hash_in() {
    sed -n 's/.*"state_hash": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json"
}
value_in() {
    sed -n "s/.*\"$2\": \"*\([a-z0-9]*\).*/\1/p" "$1/summary.json" | head -n 1
}
short="--set time.steps=3 --set mesh.cells=[20,1,1]"

# ---- one node, many nodes ----------------------------------------------------

# shellcheck disable=SC2086 # $short is several words
job one --ntasks-per-node=2 "$scripts/one-node.sbatch" "$deck" $short
good one
asked one '^-n 2 .*storm run .*marshak.yaml --out out/storm-7 '
[ "$(value_in "$fake/out/storm-7" ranks)" = 2 ] || fail "one: ranks"
whole=$(hash_in "$fake/out/storm-7")

# Cores are those of all nodes: no warning, no yielding to others.
cores=$("$STORM_BIN" info | sed -n 's/^  cores  *\([0-9]*\).*/\1/p')
[ "$cores" -le 8 ] || cores=4 # a large machine: not as many ranks
# shellcheck disable=SC2086
STORM_BACKEND=p2p job many --nodes=2 "--ntasks-per-node=$cores" \
    "$scripts/many-nodes.sbatch" "$deck" $short
good many
asked many "^--mpi=pmix --cpu-bind=cores -n $((2 * cores)) "
[ "$(value_in "$fake/out/storm-7" backend)" = p2p ] || fail "many: backend"
grep -q '^  p2p .*works' "$scratch/out" || fail "many: no storm info"
! grep -q 'wait for each other' "$scratch/err" || fail "many: $(cat "$scratch/err")"
[ "$(hash_in "$fake/out/storm-7")" = "$whole" ] || fail "many: another state"
# shellcheck disable=SC2086
STORM_LAUNCHER="srun --mpi=pmi2" job other --nodes=1 --ntasks-per-node=2 \
    "$scripts/many-nodes.sbatch" "$deck" $short --backend shm
good other
asked other '^--mpi=pmi2 -n 2 '

# ---- a chain -----------------------------------------------------------------

# The job's time is over: each part makes one step. SLURM_JOB_END_TIME, where it
# is not set, comes from squeue.
# shellcheck disable=SC2086
FAKE_END=2020-01-01T00:00:00 job chain --nodes=1 --ntasks-per-node=2 \
    "$scripts/chain.sbatch" "$deck" $short
good chain
[ "$(cat "$fake/jobs")" = "$(printf 'job %d: 0\n' 0 1 2)" ] ||
    fail "chain: $(cat "$fake/jobs" "$scratch/err")"
[ "$(grep -c 'run --restart out/storm-7 ' "$fake/srun")" -eq 2 ] ||
    fail "chain: srun $(cat "$fake/srun")"
[ "$(hash_in "$fake/out/storm-7")" = "$whole" ] || fail "chain: another state"

# Replicas one after another as a chain: no checkpoint is left when one ends.
# shellcheck disable=SC2086
SLURM_JOB_END_TIME=1000 job seeds --nodes=1 --ntasks-per-node=2 \
    "$scripts/chain.sbatch" "$deck" --set time.steps=2 \
    --set mesh.cells=[20,1,1] --replicas 2
good seeds
[ "$(grep -c '^2,\|^1,' "$fake/out/storm-7/replicas.csv")" -eq 2 ] ||
    fail "seeds: $(cat "$fake/jobs" "$fake/out/storm-7/replicas.csv")"

# Complete in the first part; one that fails; one that gets no further.
# shellcheck disable=SC2086
job short --nodes=1 --ntasks-per-node=2 "$scripts/chain.sbatch" "$deck" $short
good short
[ "$(cat "$fake/jobs")" = "job 0: 0" ] || fail "short: $(cat "$fake/jobs")"
job bad "$scripts/chain.sbatch" no-such-deck.yaml
[ "$status $(cat "$fake/jobs")" = "2 job 0: 2" ] ||
    fail "bad: $status, $(cat "$fake/jobs")"
rm "$bin/storm"
make storm <<'END'
#!/bin/sh
exit 3
END
job stuck "$scripts/chain.sbatch" "$deck"
[ "$status $(cat "$fake/jobs")" = "3 job 0: 3" ] ||
    fail "stuck: $status, $(cat "$fake/jobs")"
rm "$bin/storm"
ln -s "$STORM_BIN" "$bin/storm"

# ---- replicas ----------------------------------------------------------------

# shellcheck disable=SC2086
job replicas --ntasks-per-node=2 "$scripts/replicas.sbatch" "$deck" 2 $short
good replicas
job="$fake/out/storm-replicas-7"
rows_of() {
    grep -c '^[0-9]' "$1/replicas.csv"
}
[ "$(rows_of "$job")" -eq 2 ] || fail "replicas: $(cat "$job/replicas.csv")"
# shellcheck disable=SC2086
OUT=$job job more --ntasks-per-node=2 "$scripts/replicas.sbatch" "$deck" 3
good more
[ "$(rows_of "$job")" -eq 3 ] || fail "more: $(cat "$job/replicas.csv")"

finish
