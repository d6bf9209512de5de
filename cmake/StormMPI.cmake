# SPDX-License-Identifier: BSD-3-Clause
#
# Find MPI, detect its flavour, and pick the mpiexec that belongs to it: on a
# machine with two MPIs the plain names may belong to different ones. Choose
# with -DMPI_C_COMPILER=mpicc.mpich, and -DMPIEXEC_EXECUTABLE= if the names of
# nothing shows that the two belong together.
#
# Sets STORM_MPI_FLAVOUR to openmpi, mpich or other.

if(STORM_SIM)
    include(StormSim)
    return()
endif()

set(storm_choose_mpiexec OFF)
if(NOT MPIEXEC_EXECUTABLE)
    set(storm_choose_mpiexec ON)
endif()

set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI 3.0 REQUIRED COMPONENTS C)

include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${MPI_C_INCLUDE_DIRS})
check_symbol_exists(OPEN_MPI mpi.h STORM_MPI_IS_OPENMPI)
check_symbol_exists(MPICH_VERSION mpi.h STORM_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_INCLUDES)
if(STORM_MPI_IS_OPENMPI)
    set(STORM_MPI_FLAVOUR openmpi)
elseif(STORM_MPI_IS_MPICH)
    set(STORM_MPI_FLAVOUR mpich)
else()
    set(STORM_MPI_FLAVOUR other)
endif()

if(storm_choose_mpiexec)
    get_filename_component(storm_mpi_bin "${MPI_C_COMPILER}" DIRECTORY)
    foreach(candidate IN ITEMS mpiexec.${STORM_MPI_FLAVOUR} mpiexec)
        if(EXISTS "${storm_mpi_bin}/${candidate}")
            set(MPIEXEC_EXECUTABLE "${storm_mpi_bin}/${candidate}" CACHE
                FILEPATH "Executable for running MPI programs." FORCE)
            break()
        endif()
    endforeach()
endif()
