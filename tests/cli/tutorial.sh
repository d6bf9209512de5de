#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 120; label: mpi slow-asan slow-mpich
#
# docs/tutorial.md is true: its programs compile, its commands work as they are
# printed, and they print what the page shows.
#
# A block behind `<!-- part: NAME -->` is a part of tutorial.c, and replaces an
# older part of that name; `, before OTHER` places it. `<!-- run: NAME -->` is
# followed by the commands, then by what they print.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "tutorial: $*"
    exit 1
}

# ---- a folder as a clone's: include, build, and the MPI of this build --------

cached() {
    sed -n "s/^$1:[A-Z]*=//p" "$STORM_BUILD/CMakeCache.txt"
}
mkdir "$scratch/bin" "$scratch/clone"
ln -s "$(cached MPI_C_COMPILER)" "$scratch/bin/mpicc"
ln -s "$STORM_MPIEXEC" "$scratch/bin/mpiexec"
PATH=$scratch/bin:$PATH
export PATH
ln -s "$root/include" "$scratch/clone/include"
ln -s "$STORM_BUILD" "$scratch/clone/build"
cd "$scratch/clone" || exit 1

# ---- programs, commands and results of the page ------------------------------

awk -v out="$scratch" '
    function complain(what) {
        print "tutorial.md:" FNR ": " what
        bad = 1
        exit 1
    }
    # Make room for a new part, at the end or before another.
    function place(name, before,    i, j) {
        for (i = 1; i <= n && order[i] != before; i++)
            ;
        if (before != "" && i > n)
            complain("no part " before)
        for (j = ++n; j > i; j--)
            order[j] = order[j - 1]
        order[i] = name
        known[name] = 1
    }
    /^<!-- part: / {
        part = $3; sub(/,$/, "", part)
        if (!(part in known))
            place(part, $4 == "before" ? $5 : "")
        text[part] = ""
    }
    /^<!-- run: / {
        run = $3
        print run >(out "/runs")
        for (i = 1; i <= n; i++)
            print text[order[i]] >(out "/" run ".c")
    }
    /^```/ {
        kind = kind == "" ? substr($0, 4) : ""
        if (kind == "c" && part == "")
            complain("a block of C that is not a part")
        if (kind == "")
            part = ""
        next
    }
    kind == "c" { text[part] = text[part] $0 "\n" }
    kind == "sh" && run != "" { print >(out "/" run ".sh") }
    kind == "text" { print >(out "/" run ".txt") }
    END { exit bad }' "$root/docs/tutorial.md" ||
    fail "the page is not in order"

[ "$(wc -l <"$scratch/runs")" -gt 5 ] || fail "few runs found"
while read -r run; do
    [ -s "$scratch/$run.sh" ] && [ -s "$scratch/$run.txt" ] ||
        fail "$run: commands or their output are missing"
    [ ! -e "$scratch/$run.c" ] || cp "$scratch/$run.c" tutorial.c
    sh -e "$scratch/$run.sh" >"$scratch/got" 2>"$scratch/err" </dev/null ||
        fail "$run: $(cat "$scratch/got" "$scratch/err")"
    cmp -s "$scratch/got" "$scratch/$run.txt" || fail "$run: printed" \
        "$(cat "$scratch/got" "$scratch/err"), not $(cat "$scratch/$run.txt")"
done <"$scratch/runs"
