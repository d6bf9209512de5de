# SPDX-License-Identifier: BSD-3-Clause
#
# The backends: one row each, best first. Everything else that depends on the
# list follows from it: which folders of src/fabric are compiled, the words of
# the option transport.backend, what storm info prints, the table that the code
# goes through, the declarations, and the backends that tests run on.
#
#   storm_fabric(NAME DESCRIPTION [HEADER header] [TESTS backend...])
#
#   NAME     of the folder, of the table storm_fabric_NAME, and of the word
#   HEADER   without it the backend is left out, as with -DSTORM_<NAME>=OFF. The
#            library behind it is loaded at run time and not needed to build
#   TESTS    what `networks` stands for in plans of tests: backends that need
#            no device (cmake/StormTests.cmake)
#
# Makes STORM_FABRICS, the names in this build, and storm_fabric_left_out;
# storm_fabric_includes, storm_fabric_libs, storm_fabric_tests; and
# storm_backends.h, storm_fabrics.h and fabric_list.c in the folder generated/ of
# the build.

set(STORM_FABRICS "")
set(storm_fabric_includes "")
set(storm_fabric_libs ${CMAKE_DL_LIBS})
set(storm_fabric_tests "")
set(storm_fabric_left_out "")
set(storm_backend_words "auto")
set(storm_backend_rows "")
set(storm_fabric_externs "")
set(storm_fabric_entries "")

macro(storm_fabric name description)
    cmake_parse_arguments(fabric "" HEADER TESTS ${ARGN})
    string(APPEND storm_backend_words "|${name}")
    set(fabric_built true)
    if(fabric_HEADER)
        string(TOUPPER ${name} fabric_upper)
        option(STORM_${fabric_upper}
               "The backend ${name}, if ${fabric_HEADER} is found" ON)
        find_path(STORM_${fabric_upper}_INCLUDE_DIR ${fabric_HEADER})
        mark_as_advanced(STORM_${fabric_upper}_INCLUDE_DIR)
        if(STORM_${fabric_upper} AND STORM_${fabric_upper}_INCLUDE_DIR)
            list(APPEND storm_fabric_includes
                 ${STORM_${fabric_upper}_INCLUDE_DIR})
        else()
            set(fabric_built false)
        endif()
    endif()
    string(APPEND storm_backend_rows
           "    {sizeof(struct storm_backend), \"${name}\", ${fabric_built}, \\\n"
           "     \"${description}\"}, \\\n")
    if(fabric_built)
        list(APPEND STORM_FABRICS ${name})
        list(APPEND storm_fabric_tests ${fabric_TESTS})
        string(APPEND storm_fabric_externs
               "extern const struct storm_fabric_ops storm_fabric_${name};\n")
        string(APPEND storm_fabric_entries "    &storm_fabric_${name},\n")
    else()
        list(APPEND storm_fabric_left_out ${name})
    endif()
endmacro()

if(STORM_SIM)
    # Simulated ranks share one process; they see no other network.
    storm_fabric(sim "simulated network" TESTS sim)
else()
    storm_fabric(shm "shared memory of one node")
    storm_fabric(ibv "InfiniBand verbs" HEADER infiniband/verbs.h)
    storm_fabric(ofi "libfabric" HEADER rdma/fabric.h
                 TESTS ofi-tcp)
    storm_fabric(mpirma "one-sided MPI" TESTS mpirma)
endif()

# Messages need no fabric.
string(APPEND storm_backend_words "|p2p")
string(APPEND storm_backend_rows
       "    {sizeof(struct storm_backend), \"p2p\", true, \"MPI messages\"},\n")

foreach(file IN ITEMS storm_backends.h storm_fabrics.h fabric_list.c)
    configure_file(${PROJECT_SOURCE_DIR}/src/fabric/${file}.in
                   ${PROJECT_BINARY_DIR}/generated/${file} @ONLY)
endforeach()
