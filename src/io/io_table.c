/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const char table_label[] = "table";

/* The text up to the next comma, without blanks around it; changes the line. */
static char *table_item(char **rest)
{
    char *item = *rest;
    size_t length = strcspn(item, ",\r\n");
    *rest = item[length] == ',' ? item + length + 1 : NULL;
    item[length] = '\0';
    while (length > 0 && strchr(" \t", item[length - 1]) != NULL)
        item[--length] = '\0';
    return item + strspn(item, " \t");
}

static storm_status table_add_name(struct io_table *t, const char *name)
{
    void *names = t->names;
    storm_status status =
        storm_reserve(t->memory, table_label, sizeof *t->names,
                      t->n_columns + 1, &names, &t->names_capacity);
    if (status < 0)
        return status;
    t->names = names;
    if (*name == '\0' || strlen(name) >= sizeof *t->names)
        return STORM_ERR_IO;
    strcpy(t->names[t->n_columns++], name);
    return STORM_OK;
}

static storm_status table_head(struct io_table *t, char *line)
{
    storm_status status = STORM_OK;
    for (char *rest = line; rest != NULL && status == STORM_OK;)
        status = table_add_name(t, table_item(&rest));
    return status;
}

/* A number, or `nan`: there is no value. */
static bool table_number(const char *item, double *value_out)
{
    if (strcmp(item, "nan") == 0) {
        *value_out = (double)NAN;
        return true;
    }
    return storm_text_to_real(item, value_out);
}

static storm_status table_row(struct io_table *t, char *line)
{
    size_t n = 0;
    void *values = t->values;
    storm_status status =
        storm_reserve(t->memory, table_label, sizeof *t->values,
                      (t->n_rows + 1) * t->n_columns, &values,
                      &t->values_capacity);
    if (status < 0)
        return status;
    t->values = values;
    double *row = t->values + t->n_rows * t->n_columns;
    for (char *rest = line; rest != NULL; n++)
        if (n == t->n_columns || !table_number(table_item(&rest), &row[n]))
            return STORM_ERR_IO;
    if (n < t->n_columns)
        return STORM_ERR_IO;
    t->n_rows++;
    return STORM_OK;
}

static void table_comment(struct io_table *t, const char *line)
{
    const char *last = strstr(line, " replicas ");
    double time;
    unsigned long long n;
    if (sscanf(line, "# time %lf", &time) == 1)
        t->time = time;
    if (last != NULL && sscanf(last, " replicas %llu", &n) == 1)
        t->replicas = n;
}

static storm_status table_line(struct io_table *t, char *line)
{
    if (line[0] == '#') {
        table_comment(t, line);
        return STORM_OK;
    }
    if (line[strspn(line, " \t\r\n")] == '\0')
        return STORM_OK;
    return t->n_columns == 0 ? table_head(t, line) : table_row(t, line);
}

/* Buffer for a line of any length. */
struct table_buffer {
    char *line;
    size_t capacity;
};

/* STORM_DONE: no more lines. */
static storm_status table_next(const struct io_table *t, FILE *file,
                               struct table_buffer *buffer)
{
    enum { PIECE = 512 };
    for (size_t n = 0;;) {
        void *line = buffer->line;
        storm_status status =
            storm_reserve(t->memory, table_label, 1, n + PIECE, &line,
                          &buffer->capacity);
        buffer->line = line;
        if (status < 0)
            return status;
        if (fgets(buffer->line + n, PIECE, file) == NULL)
            return ferror(file) ? STORM_ERR_IO : n > 0 ? STORM_OK : STORM_DONE;
        n += strlen(buffer->line + n);
        if (n > 0 && buffer->line[n - 1] == '\n')
            return STORM_OK;
    }
}

/* Reads and closes. */
static storm_status table_read(struct io_table *t, FILE *file, const char *path,
                               char *problem, size_t problem_size)
{
    struct table_buffer buffer = {.line = NULL};
    size_t number = 1;
    if (file == NULL) {
        snprintf(problem, problem_size, "cannot read %s: %s", path,
                 strerror(errno));
        return STORM_ERR_IO;
    }
    storm_status status = table_next(t, file, &buffer);
    for (; status == STORM_OK; number++) {
        status = table_line(t, buffer.line);
        if (status < 0)
            break;
        status = table_next(t, file, &buffer);
    }
    storm_free(t->memory, buffer.line);
    fclose(file);
    if (status < 0)
        snprintf(problem, problem_size, "%s:%zu: %s", path, number,
                 status == STORM_ERR_NOMEM
                     ? "no memory"
                     : "expected names, then numbers, separated by commas");
    return status < 0 ? status : STORM_OK;
}

storm_status io_table_read(struct storm_memory *memory, const char *path,
                           struct io_table *table_out, char *problem,
                           size_t problem_size)
{
    *table_out = (struct io_table){.memory = memory, .time = (double)NAN};
    return table_read(table_out, fopen(path, "r"), path, problem, problem_size);
}

storm_status io_table_parse(struct storm_memory *memory, const char *text,
                            struct io_table *table_out, char *problem,
                            size_t problem_size)
{
    *table_out = (struct io_table){.memory = memory, .time = (double)NAN};
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    return table_read(table_out, file, "table", problem, problem_size);
}

void io_table_free(struct io_table *table)
{
    storm_free(table->memory, table->names);
    storm_free(table->memory, table->values);
    *table = (struct io_table){.n_rows = 0};
}

size_t io_table_find(const struct io_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->n_columns && strcmp(table->names[i], name) != 0)
        i++;
    return i;
}
