# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034 # what is set here is used elsewhere
#
# Sourced by the tests of bindings, after cli.sh.

: "${STORM_MPIEXEC:?}" "${STORM_BUILD:?}"
root=$(cd "$(dirname "$0")/../.." && pwd)
library=$STORM_BUILD/libstorm.so
# Nothing is written into the tree of sources.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

skip() {
    echo "skipped: $*" >&2
    exit 77
}

# python_with MODULE...: sets $python to one that has them all.
python_with() {
    for python in python3 /usr/bin/python3 ""; do
        [ -n "$python" ] || return 1
        command -v "$python" >/dev/null 2>&1 || continue
        "$python" -c "import $(echo "$*" | tr ' ' ,)" >/dev/null 2>&1 && return
    done
}

# Python cannot load a library with a sanitizer, and mpi4py is for one MPI.
why_not_host() {
    if grep -q '^STORM_SANITIZE:[A-Z]*=..*' "$STORM_BUILD/CMakeCache.txt"; then
        echo "python cannot load a library with a sanitizer"
    elif ! python_with numpy mpi4py; then
        echo "no python3 with numpy and mpi4py: apt-get install python3-mpi4py"
    else
        STORM_LIBRARY=$library PYTHONPATH=$root/bindings/python "$python" -c \
            'import storm._library; storm._library.load().check_mpi()' 2>&1 |
            tail -n 1
    fi
}
