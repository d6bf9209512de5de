/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>
#include <storm/io.h>

#include "base/text.h"
#include "io/io_files.h"

void io_rows_begin(struct io_rows *rows, const char *header)
{
    storm_page_add(&rows->text, "%s\n", header);
}

/* All of a file, from malloc; NULL: it cannot be read. */
static char *rows_load(const char *dir, const char *name)
{
    char path[IO_PATH_BYTES], piece[1 << 14];
    struct storm_page page = {0};
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path)
        file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    for (size_t n; (n = fread(piece, 1, sizeof piece - 1, file)) > 0;)
        storm_page_add(&page, "%.*s", (int)n, piece);
    bool failed = ferror(file) != 0;
    fclose(file);
    char *text = storm_page_end(&page);
    if (failed) {
        free(text);
        text = NULL;
    }
    return text;
}

/* The step of a line that is complete; UINT64_MAX: it is none. */
static uint64_t rows_step(const char *line)
{
    char *end;
    if (*line < '0' || *line > '9' || strchr(line, '\n') == NULL)
        return UINT64_MAX;
    uint64_t step = strtoull(line, &end, 10);
    return *end == ',' ? step : UINT64_MAX;
}

bool io_rows_keep(struct io_rows *rows, const char *from_dir, uint64_t step)
{
    char *text = rows_load(from_dir, rows->name);
    size_t header = rows->text.length;
    bool fits = text != NULL && rows->text.text != NULL &&
                strncmp(text, rows->text.text, header) == 0;
    if (fits) {
        const char *line = text + header;
        while (rows_step(line) <= step)
            line = strchr(line, '\n') + 1;
        storm_page_add(&rows->text, "%.*s", (int)(line - text - (long)header),
                       text + header);
    }
    free(text);
    return fits;
}

storm_status io_rows_write(struct io_rows *rows, storm_log_level level)
{
    if (rows->text.failed)
        return STORM_ERR_NOMEM;
    if (rows->text.length == rows->written)
        return STORM_OK;
    storm_status status = io_write_text_at(rows->context, rows->dir, rows->name,
                                           rows->text.text, level);
    if (status == STORM_OK)
        rows->written = rows->text.length;
    return status;
}

void io_rows_free(struct io_rows *rows)
{
    free(storm_page_end(&rows->text));
    rows->text = (struct storm_page){0};
}

void io_rows_real(struct storm_page *page, double value, char after)
{
    char text[STORM_TEXT_REAL_BYTES];
    storm_text_from_real(value, text);
    storm_page_add(page, "%s%c", text, after);
}
