# SPDX-License-Identifier: BSD-3-Clause
#
# The fabrics of this build, best first, in STORM_FABRICS; what they need in
# storm_fabric_includes and storm_fabric_libs. A header that is not found
# leaves its fabric out; the library itself is loaded at run time.
option(STORM_IBV "The backend over libibverbs, if its header is found" ON)
option(STORM_OFI "The backend over libfabric, if its header is found" ON)

find_path(LIBFABRIC_INCLUDE_DIR rdma/fabric.h)
find_path(IBVERBS_INCLUDE_DIR infiniband/verbs.h)
mark_as_advanced(LIBFABRIC_INCLUDE_DIR IBVERBS_INCLUDE_DIR)

set(STORM_FABRICS shm)
set(storm_fabric_includes "")
set(storm_fabric_libs ${CMAKE_DL_LIBS}) # network libraries are loaded
if(STORM_IBV AND IBVERBS_INCLUDE_DIR)
    list(APPEND STORM_FABRICS ibv)
    list(APPEND storm_fabric_includes ${IBVERBS_INCLUDE_DIR})
endif()
if(STORM_OFI AND LIBFABRIC_INCLUDE_DIR)
    list(APPEND STORM_FABRICS ofi)
    list(APPEND storm_fabric_includes ${LIBFABRIC_INCLUDE_DIR})
endif()
list(APPEND STORM_FABRICS mpirma)

# The list that the code goes through.
set(storm_fabric_externs "")
set(storm_fabric_entries "")
foreach(name IN LISTS STORM_FABRICS)
    string(APPEND storm_fabric_externs
           "extern const struct storm_fabric_ops storm_fabric_${name};\n")
    string(APPEND storm_fabric_entries "    &storm_fabric_${name},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/src/fabric/fabric_list.c.in
               ${PROJECT_BINARY_DIR}/generated/fabric_list.c @ONLY)
