# SPDX-License-Identifier: BSD-3-Clause
#
# For STORM_SIM: MPI is that of SimGrid (SMPI), and a program is a library that
# smpirun loads; all its ranks are in one process. tools/lab/smpiexec starts it
# as mpiexec would.

find_path(SMPI_INCLUDE_DIR mpi.h PATH_SUFFIXES smpi
          NO_CMAKE_ENVIRONMENT_PATH HINTS /usr/include/smpi)
find_path(SIMGRID_INCLUDE_DIR simgrid/semaphore.h)
find_library(SIMGRID_LIBRARY simgrid)
find_program(SMPIRUN_EXECUTABLE smpirun)
foreach(part IN ITEMS SMPI_INCLUDE_DIR SIMGRID_INCLUDE_DIR SIMGRID_LIBRARY
        SMPIRUN_EXECUTABLE)
    if(NOT ${part})
        message(FATAL_ERROR "SimGrid not found (${part}): install "
                            "libsimgrid-dev, or set ${part}")
    endif()
endforeach()
mark_as_advanced(SMPI_INCLUDE_DIR SIMGRID_INCLUDE_DIR SIMGRID_LIBRARY
                 SMPIRUN_EXECUTABLE)

enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE
                           ${SMPI_INCLUDE_DIR} ${SIMGRID_INCLUDE_DIR})
target_link_libraries(MPI::MPI_C INTERFACE ${SIMGRID_LIBRARY})
set(STORM_MPI_FLAVOUR smpi)
set(MPIEXEC_EXECUTABLE ${PROJECT_SOURCE_DIR}/tools/lab/smpiexec)
set(MPIEXEC_NUMPROC_FLAG -n)

# What src/channel/sim/sim_messages.c takes the place of.
set(storm_sim_calls
    Init Isend Issend Irecv Test Testall Wait Cancel Request_free
    Comm_dup Comm_split Comm_split_type Comm_free
    Allreduce Ialltoall Iallgather)

# A program that smpirun can load.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_compile_options(-fPIC)
function(storm_sim_program name)
    target_link_options(${name} PRIVATE -shared)
    # SMPI declares its functions weak, which takes nothing from an archive.
    target_link_options(${name} PRIVATE -Wl,-u,__wrap_MPI_Init)
    foreach(call IN LISTS storm_sim_calls)
        target_link_options(${name} PRIVATE -Wl,--wrap=MPI_${call})
    endforeach()
    set_target_properties(${name} PROPERTIES
                          C_VISIBILITY_PRESET default LINKER_LANGUAGE CXX)
endfunction()
