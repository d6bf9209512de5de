# SPDX-License-Identifier: BSD-3-Clause
#
# Called by StormDevice.cmake as a script: marks kernels in TEXT, which clang made
# of a device text. They take a struct by value and a number.

file(STRINGS ${TEXT} lines REGEX "^define [^@]*void @")
set(marks "")
set(notes "")
set(n 900000)
foreach(line IN LISTS lines)
    if(line MATCHES "^define [^@]*(internal|private)")
        continue()
    endif()
    string(REGEX MATCH "@[A-Za-z0-9_]+" name "${line}")
    string(REGEX REPLACE "^[^(]*\\(([^ ,)]*).*$" "\\1" type "${line}")
    set(kernel "ptr ${name}")
    if(type MATCHES "[*]$") # before clang 15, pointers have types
        set(kernel "void (${type}, i64)* ${name}")
    endif()
    string(APPEND marks "!${n} = !{${kernel}, !\"kernel\", i32 1}\n")
    list(APPEND notes "!${n}")
    math(EXPR n "${n} + 1")
endforeach()
string(REPLACE ";" ", " notes "${notes}")
file(APPEND ${TEXT} "\n!nvvm.annotations = !{${notes}}\n${marks}")
