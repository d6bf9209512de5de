/* SPDX-License-Identifier: BSD-3-Clause */
/* Meshes from text files of Gmsh, MSH 4.1: tetrahedra and hexahedra are cells,
 * the physical tags of surfaces are numbers of boundaries, those of volumes
 * numbers of cells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/io_meshfile.h"

static const char gmsh_label[] = "mesh file";

enum { GMSH_WORD_BYTES = 64 };

/* A node, or the physical tag of a surface or volume. */
struct gmsh_pair {
    int64_t tag, value;
};

/* A triangle or quadrangle with the number of a boundary. */
struct gmsh_mark {
    uint32_t corners[4];
    uint32_t n;
    int32_t boundary;
};

struct gmsh {
    struct io_meshfile *file;
    FILE *stream;
    long line;
    char word[GMSH_WORD_BYTES];            /* the last one */
    struct gmsh_pair *nodes, *entities[2]; /* surfaces and volumes */
    size_t n_nodes, room_nodes, n_entities[2], room_entities[2];
    struct gmsh_mark *marks;
    size_t n_marks, room_marks;
    bool has_format, has_nodes, has_elements;
};

/* Faces of a type of elements, as corners of it. Orders are Gmsh's. */
struct gmsh_type {
    int64_t number;
    int dim;
    const char *name;
    uint32_t n_corners, n_faces;
    struct {
        uint32_t n, corner[4];
    } face[6];
};

static const struct gmsh_type gmsh_types[] = {
    {15, 0, "point", 1, 0, {{0}}},
    {1, 1, "line", 2, 0, {{0}}},
    {2, 2, "triangle", 3, 1, {{3, {0, 1, 2}}}},
    {3, 2, "quadrangle", 4, 1, {{4, {0, 1, 2, 3}}}},
    {4,
     3,
     "tetrahedron",
     4,
     4,
     {{3, {0, 1, 2}}, {3, {0, 1, 3}}, {3, {0, 2, 3}}, {3, {1, 2, 3}}}},
    {5,
     3,
     "hexahedron",
     8,
     6,
     {{4, {0, 1, 2, 3}},
      {4, {4, 5, 6, 7}},
      {4, {0, 1, 5, 4}},
      {4, {1, 2, 6, 5}},
      {4, {2, 3, 7, 6}},
      {4, {3, 0, 4, 7}}}},
};

/* ---- words --------------------------------------------------------------- */

static storm_status gmsh_expected(const struct gmsh *g, const char *what)
{
    if (ferror(g->stream))
        return io_meshfile_fail(g->file, ": %s", strerror(errno));
    if (g->word[0] == '\0')
        return io_meshfile_fail(g->file,
                                ", line %ld: expected %s, but the file ends",
                                g->line, what);
    return io_meshfile_fail(g->file, ", line %ld: expected %s, got `%s`",
                            g->line, what, g->word);
}

/* The next word, empty at the end of the file; a long one is cut. */
static void gmsh_next(struct gmsh *g)
{
    size_t n = 0;
    int c = getc(g->stream);
    for (; c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = getc(g->stream))
        g->line += c == '\n';
    for (; c > ' '; c = getc(g->stream))
        if (n + 1 < sizeof g->word)
            g->word[n++] = (char)c;
    if (c != EOF)
        (void)ungetc(c, g->stream);
    if (c >= 0 && c < ' ' && n == 0 && c != '\t' && c != '\r' && c != '\n') {
        g->word[n++] = '?'; /* not text: no number, no name */
        (void)getc(g->stream);
    }
    g->word[n] = '\0';
}

static storm_status gmsh_int(struct gmsh *g, const char *what,
                             int64_t *value_out)
{
    gmsh_next(g);
    return storm_text_to_int(g->word, value_out) ? STORM_OK
                                                 : gmsh_expected(g, what);
}

/* A number of things, which may be wrong, but not below 0. */
static storm_status gmsh_count(struct gmsh *g, const char *what,
                               int64_t *value_out)
{
    storm_status status = gmsh_int(g, what, value_out);
    return status == STORM_OK && *value_out < 0 ? gmsh_expected(g, what)
                                                : status;
}

static storm_status gmsh_real(struct gmsh *g, const char *what,
                              double *value_out)
{
    gmsh_next(g);
    return storm_text_to_real(g->word, value_out) ? STORM_OK
                                                  : gmsh_expected(g, what);
}

/* Words that are of no interest. */
static storm_status gmsh_skip(struct gmsh *g, int64_t n, const char *what)
{
    double value;
    storm_status status = STORM_OK;
    for (int64_t i = 0; i < n && status == STORM_OK; i++)
        status = gmsh_real(g, what, &value);
    return status;
}

static storm_status gmsh_word(struct gmsh *g, const char *word)
{
    gmsh_next(g);
    return strcmp(g->word, word) == 0 ? STORM_OK : gmsh_expected(g, word);
}

/* ---- pairs by tag -------------------------------------------------------- */

static int gmsh_by_tag(const void *left, const void *right)
{
    const struct gmsh_pair *a = left, *b = right;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static storm_status gmsh_add_pair(const struct gmsh *g, struct gmsh_pair **list,
                                  size_t *n, size_t *room,
                                  struct gmsh_pair pair)
{
    void *array = *list;
    storm_status status = storm_reserve(g->file->env->memory, gmsh_label,
                                        sizeof pair, *n + 1, &array, room);
    if (status < 0)
        return status;
    *list = array;
    (*list)[(*n)++] = pair;
    return STORM_OK;
}

/* NULL: there is none. */
static const struct gmsh_pair *gmsh_find(const struct gmsh_pair *list, size_t n,
                                         int64_t tag)
{
    const struct gmsh_pair key = {.tag = tag};
    return n > 0 ? bsearch(&key, list, n, sizeof key, gmsh_by_tag) : NULL;
}

/* ---- sections ------------------------------------------------------------ */

static storm_status gmsh_format(struct gmsh *g)
{
    int64_t binary, bytes;
    gmsh_next(g);
    if (strcmp(g->word, "4.1") != 0)
        return io_meshfile_fail(g->file,
                                ", line %ld: expected version 4.1 of the "
                                "format, got `%s`; save it again with gmsh "
                                "-save -format msh41",
                                g->line, g->word);
    storm_status status = gmsh_int(g, "0 (text)", &binary);
    if (status == STORM_OK && binary != 0)
        return io_meshfile_fail(g->file,
                                ", line %ld: is a binary file: expected text; "
                                "save it again with Mesh.Binary = 0",
                                g->line);
    if (status == STORM_OK)
        status = gmsh_int(g, "8, bytes of a number", &bytes);
    g->has_format = true;
    return status < 0 ? status : gmsh_word(g, "$EndMeshFormat");
}

/* One of a section of entities: a tag, 3 or 6 coordinates, physical tags,
 * boundaries. */
static storm_status gmsh_entity(struct gmsh *g, int dim)
{
    struct gmsh_pair entity = {.value = 0};
    int64_t n_tags, n_around;
    storm_status status = gmsh_int(g, "the tag of an entity", &entity.tag);
    if (status == STORM_OK)
        status = gmsh_skip(g, dim == 0 ? 3 : 6, "a coordinate");
    if (status == STORM_OK)
        status = gmsh_count(g, "the number of physical tags", &n_tags);
    if (status == STORM_OK && n_tags > 0)
        status = gmsh_int(g, "a physical tag", &entity.value);
    if (status == STORM_OK)
        status = gmsh_skip(g, n_tags - 1, "a physical tag");
    if (status == STORM_OK && dim > 0)
        status = gmsh_count(g, "the number of entities around", &n_around);
    if (status == STORM_OK && dim > 0)
        status = gmsh_skip(g, n_around, "the tag of an entity");
    if (status < 0 || dim < 2 || n_tags == 0)
        return status;
    if (entity.value < 0)
        entity.value = -entity.value; /* of the other side */
    return gmsh_add_pair(g, &g->entities[dim - 2], &g->n_entities[dim - 2],
                         &g->room_entities[dim - 2], entity);
}

static storm_status gmsh_entities(struct gmsh *g)
{
    int64_t n[4];
    storm_status status = STORM_OK;
    for (int dim = 0; dim < 4 && status == STORM_OK; dim++)
        status = gmsh_count(g, "a number of entities", &n[dim]);
    for (int dim = 0; dim < 4 && status == STORM_OK; dim++)
        for (int64_t i = 0; i < n[dim] && status == STORM_OK; i++)
            status = gmsh_entity(g, dim);
    for (int i = 0; i < 2; i++)
        if (g->n_entities[i] > 0)
            qsort(g->entities[i], g->n_entities[i], sizeof *g->entities[i],
                  gmsh_by_tag);
    return status < 0 ? status : gmsh_word(g, "$EndEntities");
}

/* Tags of a block of nodes, then coordinates. */
static storm_status gmsh_node_block(struct gmsh *g)
{
    int64_t dim, entity, parametric, n;
    size_t first = g->n_nodes;
    storm_status status = gmsh_int(g, "a dimension", &dim);
    if (status == STORM_OK)
        status = gmsh_int(g, "the tag of an entity", &entity);
    if (status == STORM_OK)
        status = gmsh_int(g, "0 (not parametric)", &parametric);
    if (status == STORM_OK && parametric != 0)
        return gmsh_expected(g, "0: save it without parametric coordinates");
    if (status == STORM_OK)
        status = gmsh_count(g, "a number of nodes", &n);
    for (int64_t i = 0; status == STORM_OK && i < n; i++) {
        struct gmsh_pair node = {.value = (int64_t)g->n_nodes};
        status = gmsh_int(g, "the tag of a node", &node.tag);
        if (status == STORM_OK)
            status =
                gmsh_add_pair(g, &g->nodes, &g->n_nodes, &g->room_nodes, node);
    }
    for (size_t i = first; status == STORM_OK && i < g->n_nodes; i++) {
        double x[3];
        for (int d = 0; d < 3 && status == STORM_OK; d++)
            status = gmsh_real(g, "a coordinate", &x[d]);
        if (status == STORM_OK)
            status = io_meshfile_add_point(g->file, x);
    }
    return status;
}

/* Numbers of blocks and of what is in them, and two tags. */
static storm_status gmsh_numbers(struct gmsh *g, int64_t *n_blocks_out,
                                 int64_t *n_out)
{
    storm_status status = gmsh_count(g, "a number of blocks", n_blocks_out);
    if (status == STORM_OK)
        status = gmsh_count(g, "a number of all blocks together", n_out);
    return status < 0 ? status : gmsh_skip(g, 2, "a tag");
}

static storm_status gmsh_total(const struct gmsh *g, const char *what,
                               int64_t announced, uint64_t n)
{
    if ((uint64_t)announced == n)
        return STORM_OK;
    return io_meshfile_fail(g->file,
                            ", line %ld: expected %lld %s, as announced, got "
                            "%llu",
                            g->line, (long long)announced, what,
                            (unsigned long long)n);
}

static storm_status gmsh_nodes(struct gmsh *g)
{
    int64_t n_blocks, n;
    storm_status status = gmsh_numbers(g, &n_blocks, &n);
    for (int64_t i = 0; status == STORM_OK && i < n_blocks; i++)
        status = gmsh_node_block(g);
    if (status == STORM_OK)
        status = gmsh_total(g, "nodes", n, g->n_nodes);
    if (status < 0)
        return status;
    if (g->n_nodes > 0)
        qsort(g->nodes, g->n_nodes, sizeof *g->nodes, gmsh_by_tag);
    for (size_t i = 1; i < g->n_nodes; i++)
        if (g->nodes[i].tag == g->nodes[i - 1].tag)
            return io_meshfile_fail(g->file, ": two nodes have tag %lld",
                                    (long long)g->nodes[i].tag);
    g->has_nodes = true;
    return gmsh_word(g, "$EndNodes");
}

/* ---- elements ------------------------------------------------------------ */

static storm_status gmsh_corners(struct gmsh *g, const struct gmsh_type *type,
                                 uint32_t *corners_out)
{
    for (uint32_t i = 0; i < type->n_corners; i++) {
        int64_t tag;
        storm_status status = gmsh_int(g, "the tag of a node", &tag);
        if (status < 0)
            return status;
        const struct gmsh_pair *node = gmsh_find(g->nodes, g->n_nodes, tag);
        if (node == NULL)
            return gmsh_expected(g, "the tag of a node of $Nodes");
        corners_out[i] = (uint32_t)node->value;
        for (uint32_t k = 0; k < i; k++)
            if (corners_out[k] == corners_out[i])
                return gmsh_expected(g, "a node that the element does not have "
                                        "yet");
    }
    return STORM_OK;
}

static storm_status gmsh_add_mark(struct gmsh *g, const struct gmsh_type *type,
                                  const uint32_t *corners, int64_t boundary)
{
    struct gmsh_mark mark = {.n = type->n_corners,
                             .boundary = (int32_t)boundary};
    void *array = g->marks;
    if (boundary > IO_MESHFILE_MAX_BOUNDARY)
        return io_meshfile_fail(g->file,
                                ", line %ld: physical surface %lld: expected a "
                                "tag of at most %d",
                                g->line, (long long)boundary,
                                IO_MESHFILE_MAX_BOUNDARY);
    memcpy(mark.corners, corners, mark.n * sizeof *corners);
    storm_status status =
        storm_reserve(g->file->env->memory, gmsh_label, sizeof mark,
                      g->n_marks + 1, &array, &g->room_marks);
    if (status < 0)
        return status;
    g->marks = array;
    g->marks[g->n_marks++] = mark;
    return STORM_OK;
}

static storm_status gmsh_add_cell(struct gmsh *g, const struct gmsh_type *type,
                                  const uint32_t *corners, int64_t tag,
                                  int64_t number)
{
    storm_status status = STORM_OK;
    for (uint32_t f = 0; f < type->n_faces && status == STORM_OK; f++) {
        uint32_t face[4];
        for (uint32_t i = 0; i < type->face[f].n; i++)
            face[i] = corners[type->face[f].corner[i]];
        status = io_meshfile_add_face(g->file, type->face[f].n, face, 0);
    }
    return status < 0 ? status
                      : io_meshfile_end_cell(g->file, (uint64_t)tag, number);
}

static storm_status gmsh_element(struct gmsh *g, const struct gmsh_type *type,
                                 int64_t physical)
{
    uint32_t corners[8];
    int64_t tag;
    storm_status status = gmsh_int(g, "the tag of an element", &tag);
    if (status == STORM_OK)
        status = gmsh_corners(g, type, corners);
    if (status < 0 || type->dim < 2)
        return status;
    if (type->dim == 3)
        return gmsh_add_cell(g, type, corners, tag, physical);
    return physical > 0 ? gmsh_add_mark(g, type, corners, physical) : STORM_OK;
}

static storm_status gmsh_type_of(const struct gmsh *g, int64_t number,
                                 const struct gmsh_type **type_out)
{
    for (size_t i = 0; i < sizeof gmsh_types / sizeof gmsh_types[0]; i++)
        if (gmsh_types[i].number == number) {
            *type_out = &gmsh_types[i];
            return STORM_OK;
        }
    return io_meshfile_fail(g->file,
                            ", line %ld: elements have type %lld: expected "
                            "tetrahedra (4) or hexahedra (5), and triangles "
                            "(2) or quadrangles (3) at boundaries, all of "
                            "first order",
                            g->line, (long long)number);
}

static storm_status gmsh_element_block(struct gmsh *g, uint64_t *n_out)
{
    const struct gmsh_type *type = NULL;
    int64_t dim, entity, number, n;
    storm_status status = gmsh_int(g, "a dimension", &dim);
    if (status == STORM_OK)
        status = gmsh_int(g, "the tag of an entity", &entity);
    if (status == STORM_OK)
        status = gmsh_int(g, "a type of elements", &number);
    if (status == STORM_OK)
        status = gmsh_type_of(g, number, &type);
    if (status == STORM_OK)
        status = gmsh_count(g, "a number of elements", &n);
    if (status < 0)
        return status;
    const struct gmsh_pair *found =
        type->dim >= 2 ? gmsh_find(g->entities[type->dim - 2],
                                   g->n_entities[type->dim - 2], entity)
                       : NULL;
    for (int64_t i = 0; i < n && status == STORM_OK; i++)
        status = gmsh_element(g, type, found != NULL ? found->value : 0);
    *n_out += (uint64_t)n;
    return status;
}

static storm_status gmsh_elements(struct gmsh *g)
{
    int64_t n_blocks, n;
    uint64_t n_read = 0;
    if (!g->has_nodes)
        return gmsh_expected(g, "$Nodes before it");
    storm_status status = gmsh_numbers(g, &n_blocks, &n);
    for (int64_t i = 0; status == STORM_OK && i < n_blocks; i++)
        status = gmsh_element_block(g, &n_read);
    if (status == STORM_OK)
        status = gmsh_total(g, "elements", n, n_read);
    g->has_elements = true;
    return status < 0 ? status : gmsh_word(g, "$EndElements");
}

/* ---- all ----------------------------------------------------------------- */

/* A section of no interest, such as $PhysicalNames. */
static storm_status gmsh_other(struct gmsh *g)
{
    char end[GMSH_WORD_BYTES + 8];
    snprintf(end, sizeof end, "$End%s", g->word + 1);
    if (strcmp(g->word, "$PartitionedEntities") == 0)
        return gmsh_expected(g, "a mesh that is not partitioned");
    while (strcmp(g->word, end) != 0) {
        gmsh_next(g);
        if (g->word[0] == '\0')
            return gmsh_expected(g, end);
    }
    return STORM_OK;
}

static storm_status gmsh_section(struct gmsh *g)
{
    static const struct {
        const char *name;
        storm_status (*read)(struct gmsh *g);
    } sections[] = {{"$MeshFormat", gmsh_format},
                    {"$Entities", gmsh_entities},
                    {"$Nodes", gmsh_nodes},
                    {"$Elements", gmsh_elements}};
    if (!g->has_format && strcmp(g->word, "$MeshFormat") != 0)
        return gmsh_expected(g, "$MeshFormat (a file of Gmsh 4.1) or HDF5");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(g->word, sections[i].name) == 0)
            return sections[i].read(g);
    return g->word[0] == '$' ? gmsh_other(g)
                             : gmsh_expected(g, "a section, such as $Nodes");
}

static storm_status gmsh_sections(struct gmsh *g)
{
    storm_status status = STORM_OK;
    for (gmsh_next(g);
         status == STORM_OK && (g->word[0] != '\0' || !g->has_elements);) {
        if (g->word[0] == '\0')
            return gmsh_expected(g,
                                 g->has_format ? "$Elements" : "$MeshFormat");
        status = gmsh_section(g);
        if (status == STORM_OK)
            gmsh_next(g);
    }
    for (size_t i = 0; i < g->n_marks && status == STORM_OK; i++)
        status =
            io_meshfile_add_face(g->file, g->marks[i].n, g->marks[i].corners,
                                 g->marks[i].boundary);
    return status;
}

static storm_status gmsh_read(struct io_meshfile *file)
{
    struct gmsh g = {.file = file, .line = 1};
    struct storm_memory *memory = file->env->memory;
    file->cell_word = "element";
    g.stream = fopen(file->path, "r");
    if (g.stream == NULL)
        return io_meshfile_fail(file, ": %s", strerror(errno));
    storm_status status = gmsh_sections(&g);
    fclose(g.stream);
    storm_free(memory, g.nodes);
    storm_free(memory, g.entities[0]);
    storm_free(memory, g.entities[1]);
    storm_free(memory, g.marks);
    return status;
}

static bool gmsh_begins(const unsigned char head[IO_MESHFILE_HEAD], size_t n)
{
    (void)head;
    (void)n;
    return true; /* if it is another file, its first word is wrong */
}

const struct io_meshfile_format io_meshfile_gmsh = {
    .name = "Gmsh",
    .begins = gmsh_begins,
    .read = gmsh_read,
};
