# SPDX-License-Identifier: BSD-3-Clause
#
# C++: a header. Fortran: a module and its library, where there are a compiler and
# the Fortran module of this MPI. Python needs nothing built. Sanitizers are for C
# alone: the compilers of other languages may be of another make.

include(CheckLanguage)
set(STORM_HAVE_CXX OFF)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT STORM_SANITIZE)
    enable_language(CXX)
    set(STORM_HAVE_CXX ON)
endif()

set(STORM_HAVE_FORTRAN OFF)
option(STORM_FORTRAN "Build the Fortran module, if there is a compiler" ON)
if(STORM_FORTRAN AND NOT STORM_SANITIZE)
    check_language(Fortran)
endif()
if(STORM_FORTRAN AND CMAKE_Fortran_COMPILER AND NOT STORM_SANITIZE)
    enable_language(Fortran)
    if(NOT STORM_MPI_FLAVOUR STREQUAL other)
        find_program(MPI_Fortran_COMPILER mpif90.${STORM_MPI_FLAVOUR})
    endif()
    find_package(MPI QUIET COMPONENTS Fortran)
    set(STORM_HAVE_FORTRAN ON)
    add_library(storm_fortran STATIC ${PROJECT_SOURCE_DIR}/bindings/fortran/storm.f90)
    set_target_properties(storm_fortran PROPERTIES
        EXPORT_NAME fortran
        POSITION_INDEPENDENT_CODE ON
        Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/fortran
        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(storm_fortran INTERFACE
        $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/fortran>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_LIBDIR}/storm/fortran>)
    target_link_libraries(storm_fortran PUBLIC storm_shared)
    add_library(storm::fortran ALIAS storm_fortran)
    add_dependencies(product storm_fortran)
    set(storm_fortran_flags -ffp-contract=off)
    if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
        list(APPEND storm_fortran_flags -std=f2008 -Wall -Wextra)
        if(STORM_WERROR)
            list(APPEND storm_fortran_flags -Werror)
        endif()
    endif()
    target_compile_options(storm_fortran PRIVATE ${storm_fortran_flags})
endif()

# storm_add_binding_program(NAME FILE FOLDER): a program in another language.
function(storm_add_binding_program name file folder)
    add_executable(${name} ${file})
    set_target_properties(${name} PROPERTIES
        OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder}
        Fortran_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/fortran/${name})
    if(file MATCHES "[.]f90$")
        target_link_libraries(${name} PRIVATE storm_fortran MPI::MPI_Fortran)
        target_compile_options(${name} PRIVATE ${storm_fortran_flags})
    else()
        target_compile_features(${name} PRIVATE cxx_std_17)
        target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/bindings/cxx)
        target_link_libraries(${name} PRIVATE storm_shared storm_flags)
    endif()
    if(STORM_TESTS)
        add_dependencies(tests ${name})
    endif()
endfunction()

if(STORM_HAVE_CXX)
    if(STORM_EXAMPLES)
        storm_add_binding_program(host_cc examples/host.cc examples)
    endif()
    if(STORM_TESTS)
        storm_add_binding_program(cxx_host tests/bindings/cxx_host.cc tests/bindings)
        storm_add_binding_program(cxx_statuses tests/bindings/cxx_host.cc
                                  tests/bindings)
        target_compile_options(cxx_statuses PRIVATE -fno-exceptions)
    endif()
endif()
if(STORM_HAVE_FORTRAN AND MPI_Fortran_FOUND)
    if(STORM_EXAMPLES)
        storm_add_binding_program(host_f90 examples/host.f90 examples)
    endif()
    if(STORM_TESTS)
        storm_add_binding_program(fortran_host tests/bindings/fortran_host.f90
                                  tests/bindings)
    endif()
endif()
