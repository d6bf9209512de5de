/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static storm_status load_symbols(const struct storm_library *library,
                                 void *handle, unsigned char *table_out,
                                 char *reason_out, size_t reason_bytes)
{
    for (const struct storm_library_symbol *s = library->symbols; s->name;
         s++) {
        void *found = s->version ? dlvsym(handle, s->name, s->version)
                                 : dlsym(handle, s->name);
        if (!found) {
            snprintf(reason_out, reason_bytes,
                     "%s lacks the function %s: install a newer %s",
                     library->file, s->name, library->name);
            return STORM_ERR_NOSUP;
        }
        memcpy(table_out + s->offset, &found, sizeof found);
    }
    return STORM_OK;
}

storm_status storm_library_load(const struct storm_library *library,
                                void *table_out, char *reason_out,
                                size_t reason_bytes)
{
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason_out, reason_bytes,
                 "%s cannot be loaded (%s); install it, or set "
                 "LD_LIBRARY_PATH",
                 library->name, dlerror());
        return STORM_ERR_NOSUP;
    }
    storm_status status =
        load_symbols(library, handle, table_out, reason_out, reason_bytes);
    dlclose(handle);
    return status;
}
