#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TEST timeout: 30
#
# C++, Fortran and Python have what storm/host.h has: each function is called by
# each binding, and constants of Fortran and Python have the values of C. (One
# function makes the object: for C++ that of C, for the others that of Fortran.)
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../cli/cli.sh
. "$here/../cli/cli.sh"
# shellcheck source-path=SCRIPTDIR source=bindings.sh
. "$here/bindings.sh"

bindings=$root/bindings
fortran="$bindings/fortran/storm.f90 $bindings/fortran/storm_calls.inc"
python="$bindings/python/storm/host.py $bindings/python/storm/_library.py"

# Without comments, on one line.
header=$(cat "$root"/include/storm/host.h "$root"/include/storm/host_run.h |
    tr '\n' ' ' | sed 's|/\*|\n/*|g; s|\*/|*/\n|g' | grep -v '^/\*' | tr '\n' ' ')
functions=$(echo "$header" | sed 's/typedef[^(]*(/ /g' |
    grep -o 'storm_host_[a-z_]*(' | tr -d '(' | sort -u)
[ "$(echo "$functions" | wc -l)" -ge 50 ] || fail "few functions: $functions"

for function in $functions; do
    short=${function#storm_host_}
    case $short in
    create) ;;
    *)
        grep -q "name='$function'" $fortran || fail "Fortran lacks $function"
        grep -q "c_${short%_f}(" "$bindings/fortran/storm.f90" ||
            fail "Fortran does not call $function"
        grep -q "^    \"$short\": (" "$bindings/python/storm/_library.py" ||
            fail "Python lacks $function"
        grep -Eq "_library\.$short\(|_call\(\"$short\"|self\.$short\(|\"$short\"[,)]" \
            $python || fail "Python does not call $function"
        ;;
    esac
    [ "$short" = create_f ] || grep -q "$function(" "$bindings/cxx/storm.hpp" ||
        fail "C++ does not call $function"
done

# "NAME VALUE" of the enumerators.
values=$(cat "$root"/include/storm/host.h "$root"/include/storm/host_run.h \
    "$root"/include/storm/mesh.h "$root"/include/storm/problem.h |
    tr '\n' ' ' | sed 's|/\*|\n/*|g; s|\*/|*/\n|g' | grep -v '^/\*' | tr '\n' ' ' |
    sed 's/[{}]/\n&\n/g' | awk '
        /^{/ { inside = was; next }
        /^}/ { inside = 0; next }
        { was = /enum[^;]*$/ }
        inside {
            n = split($0, part, ",")
            next_value = 0
            for (i = 1; i <= n; i++) {
                gsub(/[ \t]/, "", part[i])
                if (part[i] == "")
                    continue
                if (split(part[i], pair, "=") == 2)
                    next_value = pair[2]
                print pair[1], next_value++
            }
        }' | grep -E '^STORM_(HOST|SCATTER|WALL)_')
[ "$(echo "$values" | wc -l)" -ge 40 ] || fail "few constants: $values"
code=$(tr -d ' &\n' <"$bindings/fortran/storm.f90")
echo "$values" | while read -r name value; do
    case $name in
    STORM_HOST_N_LAWS | STORM_WALL_BLACKBODY | STORM_WALL_USER) continue ;;
    STORM_HOST_E_*) value=$((value + 1)) ;; # counts from 1
    esac
    case $code in
    *[,:]"$name=$value",* | *[,:]"$name=$value"[!0-9]*) ;;
    *) echo "Fortran: $name is not $value" ;;
    esac
done >"$scratch/differences"
[ ! -s "$scratch/differences" ] || fail "$(cat "$scratch/differences")"

# Python: names of laws, walls and energies in the order of their values.
order_of() {
    echo "$values" | sort -k2 -n | sed -n "s/^$1\([A-Z]*\) .*/\1/p" |
        tr '[:upper:]' '[:lower:]' | tr '\n' ' '
}
in_python() {
    tr -d '\n' <"$bindings/python/storm/host.py" |
        sed -n "s/.*[^A-Z]$1 = [({]\([^)}]*\)[)}].*/\1/p" | grep -o '"[a-z]*"' |
        tr -d '"' | tr '\n' ' '
}
for pair in LAWS=STORM_HOST_LAW_ SCATTERINGS=STORM_SCATTER_ \
    ENERGIES=STORM_HOST_E_; do
    names=$(in_python "${pair%=*}")
    [ -n "$names" ] && [ "$names" = "$(order_of "${pair#*=}")" ] ||
        fail "Python: ${pair%=*} is $names, in C $(order_of "${pair#*=}")"
done
[ $failures -eq 0 ] || exit 1
