# SPDX-License-Identifier: BSD-3-Clause
#
# storm_voropp: voro++, to compare with; C++ in this one library. The program's
# benchmark and a test use it, the library never does. Without voro++, or with
# sanitizers, it only reports that there is none.

find_path(VOROPP_INCLUDE_DIR voro++/voro++.hh)
find_library(VOROPP_LIBRARY voro++)
mark_as_advanced(VOROPP_INCLUDE_DIR VOROPP_LIBRARY)
include(CheckLanguage)
check_language(CXX)
if(VOROPP_INCLUDE_DIR AND VOROPP_LIBRARY AND CMAKE_CXX_COMPILER AND
   NOT STORM_SANITIZE)
    enable_language(CXX)
    add_library(storm_voropp STATIC tools/voropp/voropp.cc)
    target_include_directories(storm_voropp SYSTEM
                               PRIVATE ${VOROPP_INCLUDE_DIR})
    target_compile_options(storm_voropp PRIVATE -O2)
    target_link_libraries(storm_voropp PRIVATE ${VOROPP_LIBRARY})
else()
    add_library(storm_voropp STATIC tools/voropp/voropp_none.c)
endif()
target_include_directories(storm_voropp PUBLIC ${PROJECT_SOURCE_DIR}/tools)
