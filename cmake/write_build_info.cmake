# SPDX-License-Identifier: BSD-3-Clause
#
# Called by StormBuildInfo.cmake as a script. Writes OUTPUT if it would change.

set(commit "unknown")
if(EXISTS ${SOURCE_DIR}/.git)
    execute_process(
        COMMAND git describe --always --dirty --abbrev=12
        WORKING_DIRECTORY ${SOURCE_DIR}
        OUTPUT_VARIABLE described RESULT_VARIABLE status
        ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0 AND described)
        set(commit "${described}")
    endif()
endif()

set(text "/* Written by the build; see cmake/StormBuildInfo.cmake. */
#ifndef STORM_BUILD_H
#define STORM_BUILD_H

#define STORM_VERSION \"${VERSION}\"
#define STORM_COMMIT \"${commit}\"
#define STORM_BUILD_TYPE \"${BUILD_TYPE}\"
#define STORM_COMPILER \"${COMPILER}\"
#define STORM_CFLAGS \"${CFLAGS}\"
#define STORM_MPI_FLAVOUR \"${MPI}\"
#define STORM_PTX \"${PTX}\"

#endif /* STORM_BUILD_H */
")
set(old "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${OUTPUT} "${text}")
endif()
