# SPDX-License-Identifier: BSD-3-Clause
#
# Texts of kernels for devices. One is a C file, device_<NAME>.c: the C compiler
# makes of it what the emulated device runs, clang makes PTX for GPUs, of the
# same text. It needs no CUDA, and the driver compiles PTX for the GPU it finds.
#
#   storm_device_text(PATH SOURCE)
#
#   PATH    of device_<NAME>.c
#   SOURCE  set to a C source that defines `const char storm_device_ptx_<NAME>[]`,
#           the PTX; "" if this build has none
#
# A function that is not static and returns nothing is a kernel: STORM_KERNEL in
# base/port.h. clang has no word for that in C, so it is added to what clang
# makes first, LLVM's own text (cmake/mark_kernels.cmake); then clang also knows
# that the pointers in its arguments are to global memory.
#
# Sets storm_ptx, how PTX is made; "": not at all.

set(storm_ptx "")
set(storm_ptx_arch sm_80) # and all later ones
set(storm_ptx_target -target nvptx64-nvidia-cuda
                     -Xclang -target-cpu -Xclang ${storm_ptx_arch}
                     -O3 -ffp-contract=off)
# The headers of the C library ask for the processor, Random123 takes assembly of
# it unless it is told not to. What is in registers by direction stays there if
# branches are not made one.
set(storm_ptx_flags ${storm_ptx_target}
    -x c -std=gnu11 -fno-math-errno -Wall -Wno-unused-function
    -mllvm -sink-common-insts=0
    -D_GNU_SOURCE -D__${CMAKE_SYSTEM_PROCESSOR}__ -DR123_USE_MULHILO64_ASM=0
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
    -I${PROJECT_BINARY_DIR}/generated)
if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND storm_ptx_flags
         -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
endif()

option(STORM_PTX "Kernels for GPUs, if clang is found" ON)
if(STORM_PTX)
    set(storm_clang_names clang)
    foreach(version RANGE 22 14 -1)
        list(APPEND storm_clang_names clang-${version})
    endforeach()
    find_program(STORM_CLANG NAMES ${storm_clang_names})
    mark_as_advanced(STORM_CLANG)
endif()
if(STORM_PTX AND STORM_CLANG)
    file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/ptx.c
         "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
         "#include <string.h>\nvoid f(double x);\nvoid f(double x) { (void)x; }\n")
    execute_process(
        COMMAND ${STORM_CLANG} ${storm_ptx_flags} -S
                -o ${PROJECT_BINARY_DIR}/CMakeFiles/ptx.ptx
                ${PROJECT_BINARY_DIR}/CMakeFiles/ptx.c
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND ${STORM_CLANG} -dumpversion
                    OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0 AND version VERSION_GREATER_EQUAL 14)
        set(storm_ptx "${storm_ptx_arch}, clang ${version}")
    endif()
endif()

function(storm_device_text path source)
    get_filename_component(name ${path} NAME_WE)
    string(REGEX REPLACE "^device_" "" name ${name})
    set(folder ${PROJECT_BINARY_DIR}/generated/device)
    set(result ${folder}/${name}_ptx.c)
    set(${source} ${result} PARENT_SCOPE)
    file(MAKE_DIRECTORY ${folder})
    set(array storm_device_ptx_${name})
    if(NOT storm_ptx)
        file(WRITE ${result}.new "/* This build has no PTX. */\n"
             "extern const char ${array}[];\nconst char ${array}[] = \"\";\n")
    else()
        # A literal may not be that long in C.
        file(WRITE ${result}.new "/* ${name}.ptx */\n"
             "extern const char ${array}[];\n"
             "__asm__(\".pushsection .rodata\\n\"\n"
             "        \".globl ${array}\\n\"\n"
             "        \".hidden ${array}\\n\"\n"
             "        \".type ${array}, %object\\n\"\n"
             "        \"${array}:\\n\"\n"
             "        \".incbin \\\"${folder}/${name}.ptx\\\"\\n\"\n"
             "        \".byte 0\\n\"\n"
             "        \".size ${array}, . - ${array}\\n\"\n"
             "        \".popsection\\n\");\n")
    endif()
    configure_file(${result}.new ${result} COPYONLY)
    if(NOT storm_ptx)
        return()
    endif()
    # Without a list of its headers, all of them.
    if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.20 OR
       CMAKE_GENERATOR MATCHES "Ninja")
        set(needs DEPFILE ${folder}/${name}.d)
    else()
        file(GLOB_RECURSE headers CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)
        set(needs DEPENDS ${headers})
    endif()
    add_custom_command(
        OUTPUT ${folder}/${name}.ptx
        COMMAND ${STORM_CLANG} ${storm_ptx_flags}
                -isystem ${RANDOM123_INCLUDE_DIR}
                -MD -MF ${folder}/${name}.d -MT ${folder}/${name}.ptx
                -emit-llvm -S -o ${folder}/${name}.ll ${path}
        COMMAND ${CMAKE_COMMAND} -DTEXT=${folder}/${name}.ll
                -P ${PROJECT_SOURCE_DIR}/cmake/mark_kernels.cmake
        COMMAND ${STORM_CLANG} ${storm_ptx_target} -x ir
                -S -o ${folder}/${name}.ptx ${folder}/${name}.ll
        DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/mark_kernels.cmake
        ${needs}
        COMMENT "Compiling ${name}.ptx" VERBATIM)
    set_property(SOURCE ${result} APPEND PROPERTY
                 OBJECT_DEPENDS ${folder}/${name}.ptx)
endfunction()
