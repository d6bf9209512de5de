# SPDX-License-Identifier: BSD-3-Clause
#
# Libraries, headers, program, manual pages, completions, documents, decks and
# examples; found again by find_package(storm) and
# by pkg-config storm, storm-run. All stay right when the installed tree moves.

include(CMakePackageConfigHelpers)
set(storm_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/storm)

install(TARGETS storm_shared storm_static storm_run_shared storm_run_static
        EXPORT storm-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET storm)
    install(TARGETS storm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/storm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES bindings/cxx/storm.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The source of the module as well: a module is for one compiler.
install(FILES bindings/fortran/storm.f90 bindings/fortran/storm_calls.inc
        DESTINATION ${CMAKE_INSTALL_DATADIR}/storm/fortran)
install(DIRECTORY bindings/python DESTINATION ${CMAKE_INSTALL_DATADIR}/storm
        FILES_MATCHING PATTERN "*.py" PATTERN "pyproject.toml")
if(STORM_HAVE_FORTRAN)
    install(TARGETS storm_fortran EXPORT storm-targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${PROJECT_BINARY_DIR}/fortran/storm.mod
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/storm/fortran)
endif()
install(FILES LICENSE CHANGELOG.md README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN Doxyfile EXCLUDE PATTERN site EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES tools/memcheck/mpi.supp tools/memcheck/mpi.lsan
        DESTINATION ${CMAKE_INSTALL_DATADIR}/storm)

# storm_page(FILE FOLDER ARGS...): what the program writes about itself.
function(storm_page file folder)
    set(page ${PROJECT_BINARY_DIR}/generated/pages/${file})
    add_custom_command(OUTPUT ${page}
        COMMAND storm ${ARGN} > ${page} DEPENDS storm VERBATIM)
    set_property(GLOBAL APPEND PROPERTY storm_pages ${page})
    install(FILES ${page} DESTINATION ${folder})
endfunction()
install(FILES man/storm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(TARGET storm)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/pages)
    storm_page(storm ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
               options --completion bash)
    storm_page(_storm ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
               options --completion zsh)
    foreach(command IN ITEMS run bench check plot report compare points info options)
        storm_page(storm-${command}.1 ${CMAKE_INSTALL_MANDIR}/man1
                   options --man ${command})
    endforeach()
    get_property(storm_pages GLOBAL PROPERTY storm_pages)
    add_custom_target(storm_pages ALL DEPENDS ${storm_pages})
    add_dependencies(product storm_pages)
endif()

# find_package(storm)
install(EXPORT storm-targets NAMESPACE storm:: DESTINATION ${storm_cmake_dir})
configure_package_config_file(
    cmake/storm-config.cmake.in
    ${PROJECT_BINARY_DIR}/generated/storm-config.cmake
    INSTALL_DESTINATION ${storm_cmake_dir})
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/generated/storm-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/storm-config.cmake
              ${PROJECT_BINARY_DIR}/generated/storm-config-version.cmake
        DESTINATION ${storm_cmake_dir})

# pkg-config storm, storm-run, storm-fortran
file(RELATIVE_PATH storm_pc_to_prefix
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" storm_pc_to_prefix "${storm_pc_to_prefix}")
set(storm_pc_mpi_cflags "")
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
    string(APPEND storm_pc_mpi_cflags " -I${dir}")
endforeach()
string(REPLACE ";" " " storm_pc_mpi_libs "${MPI_C_LIBRARIES}")
string(REPLACE ";" " -l" storm_pc_private ";${storm_system_libs}")
string(REPLACE ";" " -l" storm_run_pc_private ";${storm_run_system_libs}")
set(storm_pc_names storm storm-run)
if(STORM_HAVE_FORTRAN)
    list(APPEND storm_pc_names storm-fortran)
endif()
foreach(name IN LISTS storm_pc_names)
    configure_file(cmake/${name}.pc.in
                   ${PROJECT_BINARY_DIR}/generated/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/generated/${name}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
