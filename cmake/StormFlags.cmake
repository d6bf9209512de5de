# SPDX-License-Identifier: BSD-3-Clause
#
# storm_flags: how all code of ours is compiled. -ffp-contract=off is part of
# the promise of equal bits: a fused multiply-add rounds once instead of twice.

get_property(storm_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT storm_multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING
        "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# CMake's own default for Release is -O3 -DNDEBUG. Ours is STORM_OPTIMIZE, and
# checks are switched by STORM_DEBUG alone, so that assert() in a test asserts.
if(STORM_TOP_LEVEL AND CMAKE_C_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
    set(CMAKE_C_FLAGS_RELEASE "${STORM_OPTIMIZE}")
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(storm_flags INTERFACE)
target_compile_options(storm_flags INTERFACE
    -ffp-contract=off
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(STORM_WERROR)
    target_compile_options(storm_flags INTERFACE -Werror)
endif()
if(STORM_NATIVE)
    target_compile_options(storm_flags INTERFACE -march=native)
endif()
target_compile_definitions(storm_flags INTERFACE
    $<$<OR:$<CONFIG:Debug>,$<BOOL:${STORM_DEBUG}>>:STORM_DEBUG=1>)

if(STORM_SANITIZE STREQUAL "address")
    set(storm_sanitize -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(STORM_SANITIZE STREQUAL "thread")
    # gcc expands memcpy without telling the sanitizer of its accesses.
    set(storm_sanitize -fsanitize=thread -fno-builtin-memcpy)
elseif(NOT STORM_SANITIZE STREQUAL "")
    message(FATAL_ERROR "STORM_SANITIZE=${STORM_SANITIZE}: "
                        "must be empty, address or thread")
endif()
if(STORM_SANITIZE)
    # Lines are enough for a report; Debug builds have what they ask for.
    target_compile_options(storm_flags INTERFACE
        ${storm_sanitize} -fno-omit-frame-pointer $<$<NOT:$<CONFIG:Debug>>:-g1>)
    target_link_options(storm_flags INTERFACE ${storm_sanitize})
endif()
