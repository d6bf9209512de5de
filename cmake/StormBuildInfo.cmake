# SPDX-License-Identifier: BSD-3-Clause
#
# storm_build_info: gives a target <storm_build.h>, which describes the build,
# from which commit, how. The commit is looked up at every build; the file is
# rewritten only when it changes.

set(storm_generated ${PROJECT_BINARY_DIR}/generated)
string(TOUPPER "${CMAKE_BUILD_TYPE}" storm_config)
get_target_property(storm_options storm_flags INTERFACE_COMPILE_OPTIONS)
string(REPLACE ";" " " storm_options "${storm_options}")
string(STRIP "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${storm_config}} \
-std=c11 ${storm_options}" storm_cflags)
string(TOLOWER "${CMAKE_C_COMPILER_ID}" storm_compiler)
if(storm_compiler STREQUAL "gnu")
    set(storm_compiler gcc)
endif()

set(storm_write_build_info ${CMAKE_COMMAND}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
    -DOUTPUT=${storm_generated}/storm_build.h
    -DVERSION=${PROJECT_VERSION}
    -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    "-DCOMPILER=${storm_compiler} ${CMAKE_C_COMPILER_VERSION}"
    "-DCFLAGS=${storm_cflags}"
    "-DMPI=${STORM_MPI_FLAVOUR}"
    "-DPTX=${storm_ptx}"
    -P ${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake)
execute_process(COMMAND ${storm_write_build_info})
add_custom_target(storm_build_h
    COMMAND ${storm_write_build_info}
    BYPRODUCTS ${storm_generated}/storm_build.h
    COMMENT "Checking storm_build.h" VERBATIM)

add_library(storm_build_info INTERFACE)
if(STORM_SIM)
    set(storm_clock ${PROJECT_SOURCE_DIR}/src/base/sim)
else()
    set(storm_clock ${PROJECT_SOURCE_DIR}/src/base/host)
endif()
target_include_directories(storm_build_info INTERFACE
                           ${storm_generated} ${storm_clock})
add_dependencies(storm_build_info storm_build_h)
