/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 3; timeout: 30 */
/*
 * MESHFILE-3: files that are no meshes are refused on all ranks, and one
 * message has the place in the file and what was expected; nothing is left
 * behind.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include <storm/context.h>
#include <storm/io.h>
#include <storm/mesh.h>

#include "support/check.h"
#include "support/mesh_file.h"

/* A cube, and beside it two tetrahedra with a common face. */
static const char *const good[] = {
    "$MeshFormat",                /* 0 */
    "4.1 0 8",                    /* 1 */
    "$EndMeshFormat",             /* 2 */
    "$PhysicalNames",             /* 3 */
    "1",                          /* 4 */
    "2 7 \"a hot wall\"",         /* 5 */
    "$EndPhysicalNames",          /* 6 */
    "$Entities",                  /* 7 */
    "0 0 1 1",                    /* 8 */
    "5 0 0 0 1 1 1 1 7 0",        /* 9 */
    "1 0 0 0 1 1 1 0 1 5",        /* 10 */
    "$EndEntities",               /* 11 */
    "$Nodes",                     /* 12 */
    "2 13 1 40",                  /* 13 */
    "3 1 0 8",                    /* 14 */
    "1 2 3 4 5 6 7 8",            /* 15 */
    "0 0 0\n1 0 0\n1 1 0",        /* 16 to 18 in the file */
    "0 1 0\n0 0 1\n1 0 1",        /* 17 */
    "1 1 1\n0 1 1",               /* 18 */
    "3 1 0 5",                    /* 19 */
    "10 40 30 20 15",             /* 20 */
    "2 0 0\n3 0 0\n2 1 0",        /* 21 */
    "2 0 1\n2 0 -1",              /* 22 */
    "$EndNodes",                  /* 23 */
    "$Elements",                  /* 24 */
    "3 4 1 4",                    /* 25 */
    "2 5 3 1",                    /* 26 */
    "1 1 2 3 4",                  /* 27 */
    "3 1 5 1",                    /* 28 */
    "2 1 2 3 4 5 6 7 8",          /* 29 */
    "3 1 4 2",                    /* 30 */
    "3 10 40 30 20",              /* 31 */
    "4 10 40 30 15",              /* 32 */
    "$EndElements",               /* 33 */
    "$Periodic\n1\n$EndPeriodic", /* 34: of no interest */
};
enum { N_LINES = sizeof good / sizeof good[0] };

/* One line is another, or NULL: the file ends before it. */
static const struct {
    size_t line;
    const char *text, *expected;
} bad_texts[] = {
    {0, "", "line 2: expected $MeshFormat (a file of Gmsh 4.1) or HDF5, got"},
    {0, "<xml>", "line 1: expected $MeshFormat"},
    {1, "2.2 0 8", "line 2: expected version 4.1 of the format, got `2.2`"},
    {1, "4.1 1 8", "line 2: is a binary file: expected text"},
    {2, NULL, "line 3: expected $EndMeshFormat, but the file ends"},
    {2, "$Nodes", "line 3: expected $EndMeshFormat, got `$Nodes`"},
    {3, "oops", "line 4: expected a section, such as $Nodes, got `oops`"},
    {5, NULL, "expected $EndPhysicalNames, but the file ends"},
    {7, "$PartitionedEntities", "expected a mesh that is not partitioned"},
    {8, "0 0 -1 1", "line 9: expected a number of entities, got `-1`"},
    {9, "5 0 0 0 1 1 1 2 7 0",
     "line 12: expected a physical tag, got `$EndEntities`"},
    {9, "5 0 0 0 1 1 1 1 70000 0",
     "physical surface 70000: expected a tag of at most 65535"},
    {13, "2 14 1 40", "line 31: expected 14 nodes, as announced, got 13"},
    {13, "2 99999999999 1 40", "expected 99999999999 nodes, as announced"},
    {13, "3 13 1 40", "line 32: expected a dimension, got `$EndNodes`"},
    {14, "3 1 1 8", "expected 0: save it without parametric coordinates"},
    {14, "3 1 0 9", "line 26: expected 0: save it without parametric"},
    {15, "1 2 3 4 5 6 7 7", ": two nodes have tag 7"},
    {15, "1 2 3 4 5 6 7 x", "line 16: expected the tag of a node, got `x`"},
    {16, "0 0 0\n1 0 nan\n1 1 0", "line 18: expected a coordinate, got `nan`"},
    {16, "0 0 0\n1 0 1e200\n1 1 0",
     "point 1: expected coordinates up to 1e+50"},
    {16, "0 0 0\n1 0 0\n1 1 0.01",
     "element 2: a face is not plane: a corner is 0.00333 cm off, expected at "
     "most"},
    {18, "0.2 0.2 1\n0 1 1", "element 2: a face is not plane"},
    {17, NULL, "expected a coordinate, but the file ends"},
    {21, "2 0 0\n3 0 0\n4 0 0", "element 3: a face has no area"},
    {22, "2.5 0.25 0\n2 0 -1", "element 3: has no volume"},
    {22, "2 0 1\n2 0 0.5", ": elements 3 and 4 overlap: expected them on both"},
    {24, "$Elements_", "expected $EndElements_, but the file ends"},
    {24, NULL, "expected $Elements, but the file ends"},
    {25, "3 5 1 4", "expected 5 elements, as announced, got 4"},
    {26, "2 5 3 99999999999",
     "line 37: expected a node that the element does not have yet, got `1`"},
    {27, "1 1 2 3 5",
     ": boundary 7 has a face with a corner at (0, 0, 0) that "
     "is no face of a cell"},
    {28, "3 1 17 1", "line 37: elements have type 17: expected tetrahedra (4)"},
    {28, "3 1 6 1", "elements have type 6: expected tetrahedra (4)"},
    {29, "2 1 2 3 4 5 6 7 9",
     "line 38: expected the tag of a node of $Nodes, "
     "got `9`"},
    {29, "2 1 2 3 4 5 6 7 7",
     "line 38: expected a node that the element does not have yet, got `7`"},
    {29, "2 1 2 4 3 5 6 7 8", ": boundary 7 has a face"},
    {31, "3 10 40 30",
     "line 42: expected the tag of a node, got `$EndElements`"},
    {32, "4 10 40 30 20", ": elements 3 and 4 share two faces: expected one"},
    {33, NULL, "line 42: expected $EndElements, but the file ends"},
};

static struct mesh_file h5;

static void chunked(void)
{
    h5.chunked = true;
}
static void no_points(void)
{
    h5.n_points = 0;
}
static void no_boundary(void)
{
    h5.n_boundary = 0;
}
static void short_boundary(void)
{
    h5.n_boundary--;
}
static void long_boundary(void)
{
    h5.n_boundary++;
}
static void first_offset(void)
{
    h5.cell_offsets[0] = 1;
}
static void few_faces(void)
{
    h5.cell_offsets[1] = 3;
}
static void far_offset(void)
{
    h5.cell_offsets[2] = INT64_MAX / 2;
}
static void backwards(void)
{
    h5.face_offsets[3] = 4;
}
static void far_point(void)
{
    h5.face_points[5] = 12;
}
static void negative_point(void)
{
    h5.face_points[5] = -1;
}
static void twin_point(void)
{
    h5.face_points[5] = h5.face_points[4];
}
static void large_number(void)
{
    h5.boundary[0] = 65536;
}
static void no_number(void)
{
    h5.boundary[0] = -1;
}
static void third_cell(void)
{
    for (size_t f = 0; f < 6; f++)
        mesh_file_face(&h5, 4, &h5.face_points[24 + 4 * f], 2);
    mesh_file_end_cell(&h5);
}
static void dart(void)
{
    h5.points[3][1] = h5.points[7][1] = h5.points[11][1] = 0.3;
    h5.points[3][2] = h5.points[7][2] = h5.points[11][2] = 0.3;
}
static void no_number_at_all(void)
{
    h5.points[2][1] = 0.0 / 1.0;
    h5.points[2][2] = 1e60;
}

static const struct {
    void (*damage)(void);
    const char *expected;
} bad_arrays[] = {
    {chunked, "`points`: is stored in chunks; make it contiguous"},
    {no_points, "has no array `points`: expected an array of n x 3 numbers"},
    {no_boundary, "has no array `boundary`: expected a list of whole numbers"},
    {short_boundary, "`boundary`: expected more than 11 rows"},
    {long_boundary, "`boundary`: expected 12 rows, by the offsets, got 13"},
    {first_offset, "`cell_offsets`, row 0: expected 0 to 0, got 1"},
    {few_faces, "`cell_offsets`, row 1: expected 4 to"},
    {far_offset, "`face_offsets`: expected more than 13 rows"},
    {backwards, "`face_offsets`, row 3: expected 11 to 264, got 4"},
    {far_point, "`face_points`, row 5: expected 0 to 11, got 12"},
    {negative_point, "`face_points`, row 5: expected 0 to 11, got -1"},
    {twin_point, "cell 0 (from 0): a corner of a face is point"},
    {large_number, "`boundary`, row 0: expected -1 to 65535, got 65536"},
    {no_number, ": cell 0: a face has no neighbour with the same corners: "
                "expected the number of a boundary, got -1"},
    {third_cell, ": cells 0, 1 and 2 share a face: expected two at most"},
    {dart, ": cell 0: is not convex: a corner is"},
    {no_number_at_all, "point 2: expected coordinates up to 1e+50, got 1e+60"},
};

/* ---- the checks ---------------------------------------------------------- */

static char message[1024];
static int n_messages;

static void record(void *self, storm_log_level level, int rank,
                   const char *text)
{
    (void)self;
    (void)rank;
    if (level == STORM_LOG_ERROR) {
        snprintf(message, sizeof message, "%s", text);
        n_messages++;
    }
}

static void write_text(const char *path, size_t line, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (size_t i = 0; i < N_LINES && !(i == line && text == NULL); i++)
        fprintf(file, "%s\n", i == line ? text : good[i]);
    CHECK_EQ(fclose(file), 0);
}

static void refused(struct storm_context *context, const char *path,
                    const char *expected)
{
    struct storm_mesh *mesh = NULL;
    message[0] = '\0';
    n_messages = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    storm_status status = storm_mesh_read(context, path, &mesh);
    int is_first = storm_context_rank(context) == 0;
    check_where("%s, got: %s", expected, message);
    CHECK(status == (is_first ? STORM_ERR_IO : STORM_ERR_PEER));
    CHECK_EQ(n_messages, is_first);
    CHECK(!is_first || strstr(message, expected) != NULL);
    CHECK(!is_first || strncmp(message, path, strlen(path)) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void texts(struct storm_context *context, const char *path)
{
    int rank = storm_context_rank(context);
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        if (rank == 0)
            write_text(path, bad_texts[i].line, bad_texts[i].text);
        refused(context, path, bad_texts[i].expected);
    }
    if (rank == 0) {
        write_text(path, N_LINES, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    struct storm_mesh *mesh = NULL;
    CHECK_OK(storm_mesh_read(context, path, &mesh));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), 3);
    CHECK_EQ(storm_mesh_n_boundaries(mesh), 8);
    storm_mesh_destroy(mesh);
}

/* Cut off: HDF5 may open it, but rows are missing. */
static void cut(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    long bytes = ftell(file);
    fclose(file);
    CHECK_EQ(truncate(path, bytes / 2), 0);
}

static void arrays(struct storm_context *context, const char *path)
{
    int rank = storm_context_rank(context);
    struct storm_mesh *mesh = NULL;
    for (size_t i = 0; i < sizeof bad_arrays / sizeof bad_arrays[0]; i++) {
        mesh_file_cubes(&h5, 2);
        bad_arrays[i].damage();
        if (rank == 0)
            mesh_file_write(&h5, path);
        refused(context, path, bad_arrays[i].expected);
    }
    mesh_file_cubes(&h5, 2);
    if (rank == 0) {
        mesh_file_write(&h5, path);
        cut(path);
    }
    refused(context, path, ": is damaged; make it again");
    h5.small_types = true;
    if (rank == 0)
        mesh_file_write(&h5, path);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(storm_mesh_read(context, path, &mesh));
    CHECK_EQ(storm_mesh_n_cells_total(mesh), 2);
    CHECK_EQ(storm_mesh_n_boundaries(mesh), 3);
    storm_mesh_destroy(mesh);
}

int main(int argc, char **argv)
{
    struct storm_context *context;
    struct storm_context_params params = STORM_CONTEXT_PARAMS_INIT;
    char dir[CHECK_PATH] = "", path[CHECK_PATH + 16];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    params.log = record;
    CHECK_OK(storm_context_create(MPI_COMM_WORLD, &params, &context));
    if (rank == 0)
        check_scratch(dir);
    MPI_Bcast(dir, sizeof dir, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/mesh", dir);
    refused(context, path, ": No such file or directory");
    texts(context, path);
    arrays(context, path);
    if (rank == 0) {
        unlink(path);
        rmdir(dir);
    }
    n_messages = 0;
    storm_context_destroy(context);
    CHECK_EQ(n_messages, 0); /* no memory is left */
    MPI_Finalize();
    return CHECK_PASS;
}
