/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What is between two commas, without blanks around it; cuts the line. */
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

static storm_status table_add_name(struct storm_table *t, const char *name)
{
    void *names = realloc(t->names, (t->n_columns + 1) * sizeof *t->names);
    if (names == NULL)
        return STORM_ERR_NOMEM;
    t->names = names;
    if (*name == '\0' || strlen(name) >= sizeof *t->names)
        return STORM_ERR_IO;
    strcpy(t->names[t->n_columns++], name);
    return STORM_OK;
}

static storm_status table_head(struct storm_table *t, char *line)
{
    storm_status status = STORM_OK;
    for (char *rest = line; rest != NULL && status == STORM_OK;)
        status = table_add_name(t, table_item(&rest));
    return status;
}

static storm_status table_row(struct storm_table *t, char *line)
{
    size_t n = 0, bytes = (t->n_rows + 1) * t->n_columns * sizeof *t->values;
    void *values = realloc(t->values, bytes);
    if (values == NULL)
        return STORM_ERR_NOMEM;
    t->values = values;
    double *row = t->values + t->n_rows * t->n_columns;
    for (char *rest = line; rest != NULL; n++)
        if (n == t->n_columns ||
            !storm_text_to_real(table_item(&rest), &row[n]))
            return STORM_ERR_IO;
    if (n < t->n_columns)
        return STORM_ERR_IO;
    t->n_rows++;
    return STORM_OK;
}

static storm_status table_line(struct storm_table *t, char *line)
{
    double time;
    if (line[0] == '#') {
        if (sscanf(line, "# time %lf", &time) == 1)
            t->time = time;
        return STORM_OK;
    }
    if (line[strspn(line, " \t\r\n")] == '\0')
        return STORM_OK;
    return t->n_columns == 0 ? table_head(t, line) : table_row(t, line);
}

storm_status storm_table_read(const char *path, struct storm_table *table_out,
                              char *problem, size_t problem_size)
{
    struct storm_table *t = table_out;
    storm_status status = STORM_OK;
    char *line = NULL;
    size_t capacity = 0, number = 0;
    *t = (struct storm_table){.time = (double)NAN};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(problem, problem_size, "cannot read %s: %s", path,
                 strerror(errno));
        return STORM_ERR_IO;
    }
    while (status == STORM_OK && getline(&line, &capacity, file) >= 0) {
        number++;
        status = table_line(t, line);
    }
    if (status == STORM_OK && ferror(file))
        status = STORM_ERR_IO;
    free(line);
    fclose(file);
    if (status < 0)
        snprintf(problem, problem_size, "%s:%zu: %s", path, number,
                 status == STORM_ERR_NOMEM
                     ? "no memory"
                     : "expected names, then numbers, separated by commas");
    return status;
}

void storm_table_free(struct storm_table *table)
{
    free(table->names);
    free(table->values);
    *table = (struct storm_table){.n_rows = 0};
}

size_t storm_table_find(const struct storm_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->n_columns && strcmp(table->names[i], name) != 0)
        i++;
    return i;
}
