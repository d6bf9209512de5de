/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of MPI's header, for what is compiled for another processor: headers
 * of the library name these types, and the kernels call nothing of it. */
#ifndef TESTS_PHYSICS_ARM_MPI_H
#define TESTS_PHYSICS_ARM_MPI_H

typedef int MPI_Comm;
typedef int MPI_Request;
typedef int MPI_Status;
typedef int MPI_Datatype;
typedef int MPI_Op;

#endif /* TESTS_PHYSICS_ARM_MPI_H */
