# SPDX-License-Identifier: BSD-3-Clause
#
# Libraries, headers, program, man page; found again by find_package(storm) and
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
if(EXISTS ${PROJECT_SOURCE_DIR}/man/storm.1)
    install(FILES man/storm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

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

# pkg-config storm, storm-run
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
foreach(name IN ITEMS storm storm-run)
    configure_file(cmake/${name}.pc.in
                   ${PROJECT_BINARY_DIR}/generated/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/generated/${name}.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
