/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST ranks: 1 2; backend: shm mpirma p2p; timeout: 30 */
/*
 * storm_engine_backend names what was asked for by name, and writes no more
 * than the caller has room for; every fabric of the build has a row in the list
 * of backends under its own name, and every row a word of the option.
 */
#include <stdlib.h>

#include <storm/info.h>

#include "fabric/fabric_ops.h"
#include "harness.h"

static void ends(void *self, struct storm_step *step, void *packet,
                 struct storm_outcome *outcome)
{
    (void)self, (void)step, (void)packet;
    outcome->fate = STORM_FATE_ABSORBED;
}

static void check_list(void)
{
    const struct storm_option *option = storm_option_find("transport.backend");
    const struct storm_backend *backend;
    size_t n_built = 0, n_fabrics = 0;
    for (size_t i = 0; (backend = storm_backend_at(i)) != NULL; i++) {
        CHECK(strstr(option->choices, backend->name) != NULL);
        CHECK(storm_backend_find(backend->name) == backend);
        n_built += backend->built;
        CHECK((storm_backend_probe(backend->name, NULL, 0) == STORM_OK) <=
              backend->built);
    }
    for (; storm_fabric_list[n_fabrics] != NULL; n_fabrics++) {
        backend = storm_backend_find(storm_fabric_list[n_fabrics]->name);
        CHECK(backend != NULL && backend->built);
    }
    CHECK_EQ(n_built, n_fabrics + 1); /* and p2p */
    CHECK(storm_backend_find("none") == NULL);
    CHECK(storm_backend_probe("none", NULL, 0) == STORM_ERR_ARG);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    check_list();
    struct storm_physics physics = {.size = sizeof physics, .step = ends};
    struct storm_engine_params params = {
        .size = sizeof params, .record_bytes = 48, .physics = &physics};
    struct harness h;
    CHECK_OK(harness_open(&h, &params, NULL));

    const char *asked = getenv("STORM_BACKEND");
    bool messages = strcmp(asked, "p2p") == 0;
    struct storm_backend_used used = STORM_BACKEND_USED_INIT;
    CHECK_OK(storm_engine_backend(h.engine, &used));
    CHECK(strcmp(used.backend, asked) == 0);
    CHECK(strcmp(used.node_backend, "") == 0);
    CHECK(strcmp(used.protocol, messages ? "none" : "fast") == 0);
    CHECK_EQ(used.size, sizeof used);

    /* A caller that knows the first field alone. */
    struct storm_backend_used old = {.size = 2 * sizeof(size_t)};
    CHECK_OK(storm_engine_backend(h.engine, &old));
    CHECK(strcmp(old.backend, asked) == 0 && old.node_backend == NULL);
    struct storm_backend_used nothing = {0};
    CHECK(storm_engine_backend(h.engine, &nothing) == STORM_ERR_ARG);

    harness_close(&h);
    MPI_Finalize();
    return CHECK_PASS;
}
