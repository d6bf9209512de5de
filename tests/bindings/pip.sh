#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 180; label: long
#
# The Python package installs without a network into an environment that has the
# packages of the system, and works there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

why=$(why_not_host)
[ -z "$why" ] || skip "$why"
python_with numpy mpi4py setuptools venv pip ||
    skip "no python3 with setuptools, venv and pip: apt-get install" \
        "python3-setuptools python3-venv python3-pip"
"$python" -m venv --system-site-packages "$scratch/venv" ||
    skip "python3 -m venv fails"
cp -r "$root/bindings/python" "$scratch/source"
(cd "$scratch/source" && "$scratch/venv/bin/pip" install --quiet \
    --no-build-isolation --no-index .) || {
    fail "pip install"
    exit 1
}
cd "$scratch" || exit 1
"$STORM_MPIEXEC" -n 2 env STORM_LIBRARY="$library" "$scratch/venv/bin/python" \
    "$root/examples/host.py" >"$scratch/out" || fail "host.py"
[ "$(sed -n 's/^hash //p' "$scratch/out")" = \
    "$("$STORM_MPIEXEC" -n 1 "$STORM_BUILD/examples/host" |
        sed -n 's/^hash //p')" ] || fail "another hash than host.c"
STORM_LIBRARY=$scratch/none "$scratch/venv/bin/python" -c \
    'import storm; storm.Host()' 2>"$scratch/err" && fail "no such library"
grep -q 'set STORM_LIBRARY' "$scratch/err" || fail "no advice for a library \
that is not there: $(tail -n 1 "$scratch/err")"
[ $failures -eq 0 ] || exit 1
