# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the scripts of this folder.

# Start every script with:  . "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
me=$(basename "$0")

die() {
    echo "$me: $*" >&2
    exit 1
}

# A scratch directory that is removed when the script ends.
make_scratch() {
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# All files of the project, new ones included, ignored ones not.
project_files() {
    if [ -e "$root/.git" ] && command -v git >/dev/null 2>&1; then
        (cd "$root" && git ls-files -co --exclude-standard -- "$@") |
            while read -r file; do
                [ -f "$root/$file" ] && echo "$file"
            done
    else
        (cd "$root" && find . -name build -prune -o -name 'build-*' -prune \
            -o -name out -prune -o -type f -print | sed 's|^\./||') |
            while read -r file; do
                [ $# -eq 0 ] && echo "$file"
                for pattern in "$@"; do
                    # shellcheck disable=SC2254
                    case $file in $pattern) echo "$file" ;; esac
                done
            done
    fi | sort -u
}

# The first of the given commands that exists, or nothing.
first_command() {
    for candidate in "$@"; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

# The include directories of an MPI compiler wrapper, as -isystem options.
mpi_includes() {
    "$1" -show | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | tr '\n' ' '
}

# The public headers of a library, storm or run, or of both.
public_headers() {
    for header in "$root"/include/storm/*.h; do
        case $(basename "$header" .h) in
        deck | io | run | plot | report | compare) library=run ;;
        *) library=storm ;;
        esac
        [ "${1:-$library}" != "$library" ] || echo "$header"
    done
}

# Names of the public functions of a library, or of both: everything declared
# STORM_API in the headers.
public_functions() {
    # shellcheck disable=SC2046
    awk '
        { sub(/\r$/, "") }
        /^[ \t]*#/ { next }
        { text = text $0 "\n" }
        END {
            while ((i = index(text, "/*")) > 0) {
                rest = substr(text, i + 2)
                text = substr(text, 1, i - 1) \
                       substr(rest, index(rest, "*/") + 2)
            }
            n = split(text, part, /STORM_API[^A-Z_a-z0-9]/)
            for (k = 2; k <= n; k++)
                if (match(part[k], /storm_[a-z0-9_]+[ \t\n]*\(/)) {
                    name = substr(part[k], RSTART, RLENGTH)
                    sub(/[ \t\n]*\(/, "", name)
                    print name
                }
        }' $(public_headers "$@") | sort -u
}

# <date>-<machine>-<commit>: how files in bench/results start.
results_name() {
    commit=$(cd "$root" && git describe --always --dirty --abbrev=12 \
        2>/dev/null) || commit=unknown
    echo "$(date -u +%Y-%m-%d)-$(uname -n | cut -d. -f1)-$commit"
}

# 0.1.0: the version of the project.
version_of() {
    sed -n 's/^#define STORM_VERSION_[MP][A-Z]* //p' \
        "$root/include/storm/version.h" | paste -sd.
}
