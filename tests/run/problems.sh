#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 1500; label: long mpi slow-asan slow-mpich
#
# Problems of examples/problems with fewer packets or replicas than on their pages:
# the mean relative error beyond three standard errors and the accuracy of the
# reference is at most 3 %. The scripts that compute reference solutions agree
# with published numbers.
#
#   problems.sh [NAME...]   only these
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
need_python
reference=$here/../reference
only=" $* "

# wanted NAME: among the arguments, or there are none.
wanted() {
    [ "$only" = "  " ] || case $only in *" $1 "*) ;; *) return 1 ;; esac
}

# solve NAME ARGS...: run the deck into $scratch/NAME.
solve() {
    name=$1
    shift
    run run "$here/../../examples/problems/$name.yaml" \
        --out "$scratch/$name" -n 2 "$@"
    [ "$status" -eq 0 ] ||
        fail "$name: exit status $status: $(tail -3 "$scratch/err")"
}

# profile_at NAME TIME: the profile of the dump at that time.
profile_at() {
    for file in "$scratch/$1"/profile-*.csv; do
        case $(head -n 1 "$file") in "# time $2 "*) echo "$file" ;; esac
    done
}

# end_of NAME: the time of its last step.
end_of() {
    tail -n 1 "$scratch/$1/history.csv" | cut -d, -f2
}

# compare NAME TIME REFERENCE OPTIONS...
compare() {
    file=$(profile_at "$1" "$2")
    [ -n "$file" ] || {
        fail "$1: no profile at $2 s"
        return
    }
    echo "$1, $2 s, $3:"
    title="$1, $2 s"
    shift 2
    from=$1
    shift
    checks=$((checks + 1))
    python3 "$reference/profile_error.py" "$from" "$file" --max 0.03 "$@" ||
        fail "$title: above 3 %"
}

# check_script COMMAND...: a script of tests/reference with exit status 0.
check_script() {
    script=$1
    shift
    checks=$((checks + 1))
    python3 "$reference/$script" "$@" || fail "$script $*"
}

# both NAME TIME REFERENCE OPTIONS...: temperatures of matter and of radiation.
both() {
    for part in material radiation; do
        compare "$@" --y ${part}_kev --column ${part}_temperature
    done
}

if wanted krief-mcclarren-2; then
    check_script marshak_self_similar.py krief \
        --compare "$reference/krief_mcclarren_2.csv"
    python3 "$reference/marshak_self_similar.py" krief --time 0.5 \
        >"$scratch/krief.csv" || fail "marshak_self_similar.py"
    solve krief-mcclarren-2 --replicas 2
    both krief-mcclarren-2 1e-09 "$reference/krief_mcclarren_2.csv" --to 0.14
    both krief-mcclarren-2 5e-10 "$scratch/krief.csv" --to 0.07
fi

if wanted derei-1; then
    check_script marshak_self_similar.py derei --compare "$reference/derei_1.csv"
    solve derei-1 --replicas 2
    both derei-1 1e-09 "$reference/derei_1.csv" --from 0.01 --to 0.76
fi

# wave NAME PROBLEM FRONT: a self-similar wave at 0.5 and 1 ns, with its front at
# 1 ns; compared up to 0.9 of its way.
wave() {
    solve "$1" --replicas 2
    for time in 0.5:5e-10 1:1e-09; do
        python3 "$reference/marshak_self_similar.py" "$2" --time "${time%:*}" \
            >"$scratch/$2.csv" || fail "marshak_self_similar.py"
        both "$1" "${time#*:}" "$scratch/$2.csv" \
            --to "$(awk "BEGIN { print 0.9 * $3 * ${time%:*} }")"
    done
}

if wanted wave-steep; then
    wave wave-steep steep 0.122996
fi

if wanted wave-falling; then
    wave wave-falling falling 0.064460
fi

# stiff NAME FRONT OPTIONS...: where a stiff wave has 0.5 keV at 1 ns, on 128 cells.
stiff() {
    front=$2
    name=$1
    shift 2
    solve "$name" --replicas 2 "$@"
    check_script wave_front.py 0.5 "$(profile_at "$name" 1e-09)=$front" --max 0.03
}

if wanted wave-stiff-absorbing; then
    stiff wave-stiff-absorbing 0.062411 --set packets.emit_per_cell=16
fi

if wanted wave-stiff; then
    stiff wave-stiff 0.015043
fi

# The script that computes waves on cells agrees with that of similarity.
if wanted diffusion-wave; then
    check_script diffusion_wave.py check --cells 200
fi

if wanted converging-marshak; then
    run points --shape cylinder --radius 0.12 --length 0.01 --part quarter \
        --sides 8 --spacing r=0.002,z=0.01 \
        --graded r=0.09984:0.0019968:1.0001 --out "$scratch/converging.txt"
    [ "$status" -eq 0 ] || fail "points: $(cat "$scratch/err")"
    solve converging-marshak --replicas 2 --set packets.emit_per_cell=8 \
        --set packets.max_per_cell=40 \
        --set mesh.points_file="$scratch/converging.txt"
    check_script radial_profile.py 2e-9 --axis z \
        "$scratch"/converging-marshak/probes-?.csv \
        --front 0.5=0.034170 --wall 0.1 --max 0.03
fi

if wanted cooling-sphere; then
    run points --shape sphere --radius 1.05 --sides 400 --spacing 0.05 \
        --graded r=0.99737:0.01:1.4 --out "$scratch/cooling-sphere.txt"
    [ "$status" -eq 0 ] || fail "points: $(cat "$scratch/err")"
    check_script cooling_sphere.py 1e-9 --check
    solve cooling-sphere --set mesh.points_file="$scratch/cooling-sphere.txt" \
        --set time.stop=1e-9
    check_script cooling_sphere.py 1e-9 \
        --history "$scratch/cooling-sphere/history.csv"
fi

if wanted branson-marshak; then
    solve branson-marshak --replicas 2
    compare branson-marshak "$(end_of branson-marshak)" \
        "$reference/branson_marshak.csv" --x position --y material_temperature --to 0.12
fi

if wanted shadow; then
    python3 "$reference/shadow.py" | cmp -s - "$reference/shadow.csv" ||
        fail "shadow.py does not print shadow.csv"
    solve shadow --replicas 2 --set boundaries.x_lo.packets=20000
    compare shadow "$(end_of shadow)" "$reference/shadow.csv" --x position --y radiation_energy \
        --column radiation_energy
fi

# To 3 ns, when the first two points are hot.
if wanted crooked-pipe; then
    set -- r=0.49677+ r=0.99354- r=1.49031+ z=2.5- z=3+ z=4- z=4.5+
    for surface; do set -- "$@" --graded "$surface:3e-4:1.4"; shift; done
    run points --shape cylinder --radius 2 --length 7 --part quarter --sides 4 \
        --spacing r=0.125,z=0.2 "$@" --out "$scratch/crooked-pipe.txt"
    [ "$status" -eq 0 ] || fail "points: $(cat "$scratch/err")"
    solve crooked-pipe --set mesh.points_file="$scratch/crooked-pipe.txt" \
        --set time.stop=3.1e-9
    check_script crooked_pipe.py "$scratch/crooked-pipe" --max 0.03
fi

if wanted densmore-2012; then
    solve densmore-2012 --replicas 2
    compare densmore-2012 1e-09 "$reference/densmore_2012.csv" --y t_kev \
        --accuracy 0.01 --to 2.3
fi

if wanted diffusing-step; then
    solve diffusing-step --replicas 2 --set packets.max_per_cell=400
    for time in 1e-10:0.57 5e-10:0.65; do
        python3 "$reference/diffusing_step.py" "${time%:*}" \
            >"$scratch/step.csv" || fail "diffusing_step.py"
        compare diffusing-step "${time%:*}" "$scratch/step.csv" \
            --y radiation_erg_cm3 --column radiation_energy --to "${time#*:}"
    done
fi

if wanted diffusing-step-graded; then
    solve diffusing-step-graded --replicas 2 --set time.stop=1e-10
    python3 "$reference/diffusing_step.py" 1e-10 50 1.0678268457 \
        >"$scratch/step.csv" || fail "diffusing_step.py"
    compare diffusing-step-graded 1e-10 "$scratch/step.csv" \
        --y radiation_erg_cm3 --column radiation_energy --to 0.57
fi

if wanted infinite-medium-groups; then
    solve infinite-medium-groups
    check_script infinite_medium_groups.py \
        "$scratch/infinite-medium-groups/probes.csv"
fi

if wanted compton-equilibrium; then
    solve compton-equilibrium --set packets.max_per_cell=10000
    check_script compton_equilibrium.py \
        "$scratch/compton-equilibrium/probes.csv"
fi

if wanted homogeneous-sphere; then
    solve homogeneous-sphere --replicas 2 --set packets.emit_per_cell=200
    check_script homogeneous_sphere.py "$scratch"/homogeneous-sphere/probes-?.csv
fi

if wanted moving-slab; then
    "$STORM_BUILD/examples/write_table" "$scratch/moving-slab.h5" \
        "$reference/moving_slab_groups.csv" >"$scratch/said" ||
        fail "write_table: $(cat "$scratch/said")"
    solve moving-slab --replicas 2 --set packets.emit_per_cell=30000 \
        --set materials.slab.table="$scratch/moving-slab.h5"
    check_script moving_slab.py --from 9.5e-9 --to 1e-8 --max 0.05 \
        "$scratch/moving-slab/tally-observer.csv" >"$scratch/slab.csv"
fi

# moving NAME BETA... : the equilibrium at that velocity, with options in $sets.
moving() {
    # shellcheck disable=SC2086
    solve moving-equilibrium --replicas 20 --overwrite $sets \
        --set materials.gas.velocity="[$1,$2,$3]"
    check_script moving_equilibrium.py "$@" \
        "$scratch/moving-equilibrium/profile-10.csv" >"$scratch/moving.csv"
}

if wanted moving-equilibrium; then
    for velocity in "0.001 0 0" "0.0006 -0.00064 0.00048" "0.1 0 0" \
        "0.06 -0.064 0.048" "0.5 0 0" "0.3 -0.32 0.24"; do
        for mesh in "" "--set mesh.kind=voronoi --set mesh.points=27"; do
            sets=$mesh
            # shellcheck disable=SC2086
            moving $velocity
            sets="$mesh --set groups.count=1 --set output.groups=false"
            sets="$sets --set materials.gas.absorption.E_exp=0"
            # shellcheck disable=SC2086
            moving $velocity
        done
    done
fi

# pulse STEPS SHIFT SETS...: moving and at rest, with other seeds.
pulse() {
    steps=$1 shift=$2
    shift 2
    solve advecting-pulse --replicas 4 --overwrite "$@" --set seed=101 \
        --set mesh.motion.kind=none --set "materials.gas.velocity=[0,0,0]"
    cp "$scratch/advecting-pulse/profile-$steps.csv" "$scratch/rest.csv"
    v=$(awk "BEGIN { print $shift / $steps / $dt }")
    solve advecting-pulse --replicas 4 --overwrite "$@" \
        --set materials.gas.velocity="[$v,0,0]" \
        --set mesh.motion.velocity="[$v,0,0]"
    for column in material_temperature radiation_energy; do
        check_script profile_error.py "$scratch/rest.csv" \
            "$scratch/advecting-pulse/profile-$steps.csv" --x position \
            --y $column --column $column --shift "$shift" --period 10 --max 0.003
    done
}

if wanted advecting-pulse; then
    few="--set packets.emit_per_cell=20 --set packets.min_per_cell=40"
    few="$few --set packets.max_per_cell=80"
    dt=0.4
    # shellcheck disable=SC2086
    pulse 120 2.4 $few
    dt=0.5
    # shellcheck disable=SC2086
    pulse 100 1 $few --set materials.gas.absorption.coef=5 --set time.dt=0.5 \
        --set time.stop=50
fi

# hohlraum_points FIRST: the points of the deck, with first layers of that.
hohlraum_points() {
    first=$1
    set -- r=0.45- r=0.6+ x=0.1+ x=0.15- x=0.55+ x=0.95- x=1.35+
    for surface; do set -- "$@" --graded "$surface:$first:1.5"; shift; done
    run points --shape cylinder --axis x --radius 0.65 --length 1.4 \
        --part quarter --sides 4 --spacing 0.05 "$@" \
        --out "$scratch/hohlraum.txt"
    [ "$status" -eq 0 ] || fail "points: $(cat "$scratch/err")"
}

# Two resolutions at 0.5 ns, before the capsule; in walls that are just being
# heated coarse layers differ by more.
if wanted hohlraum; then
    hohlraum_points 2.5e-3
    solve hohlraum --set mesh.points_file="$scratch/hohlraum.txt" --replicas 3 \
        --set time.stop=5e-10
    cp "$(profile_at hohlraum "$(end_of hohlraum)")" "$scratch/fine.csv"
    hohlraum_points 5e-3
    solve hohlraum --set mesh.points_file="$scratch/hohlraum.txt" --replicas 3 \
        --set time.stop=5e-10 --overwrite
    compare hohlraum "$(end_of hohlraum)" "$scratch/fine.csv" --x position \
        --y radiation_energy --column radiation_energy \
        --from 0.15 --to 0.55
fi

finish
