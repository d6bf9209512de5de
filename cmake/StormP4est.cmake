# SPDX-License-Identifier: BSD-3-Clause
#
# storm_p4est: octrees by p4est, which a test compares ours with; the library
# never uses it. Packages of it are built with Open MPI: with another MPI,
# without p4est, or with sanitizers, it only reports that there is none.

find_path(P4EST_INCLUDE_DIR p8est.h)
find_library(P4EST_LIBRARY p4est)
find_library(P4EST_SC_LIBRARY sc)
mark_as_advanced(P4EST_INCLUDE_DIR P4EST_LIBRARY P4EST_SC_LIBRARY)
if(P4EST_INCLUDE_DIR AND P4EST_LIBRARY AND P4EST_SC_LIBRARY AND
   STORM_MPI_FLAVOUR STREQUAL openmpi AND NOT STORM_SANITIZE)
    add_library(storm_p4est STATIC tools/p4est/p4est_leaves.c)
    target_include_directories(storm_p4est SYSTEM PRIVATE ${P4EST_INCLUDE_DIR})
    target_link_libraries(storm_p4est PRIVATE ${P4EST_LIBRARY}
                                              ${P4EST_SC_LIBRARY})
else()
    add_library(storm_p4est STATIC tools/p4est/p4est_none.c)
endif()
target_link_libraries(storm_p4est PUBLIC MPI::MPI_C)
target_include_directories(storm_p4est PUBLIC ${PROJECT_SOURCE_DIR}/tools)
