/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints of a run: when to write, which to keep, and restart. */
#include <inttypes.h>
#include <math.h>

#include <storm/change.h>
#include <storm/context.h>
#include <storm/matter.h>
#include <storm/table.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hash.h"
#include "io/io_cells.h"
#include "io/io_checkpoint.h"
#include "io/io_h5.h"
#include "run/run.h"

/* ---- old checkpoints ----------------------------------------------------- */

/* Removes all but the newest `keep`. Those of later steps belong to another
 * run: they neither count nor are removed. On rank 0. */
static void restart_prune(const struct run *run, uint64_t keep)
{
    uint64_t step = run->step + 1;
    char path[IO_PATH_BYTES];
    for (uint64_t i = 0;; i++) {
        size_t n = 0;
        step = io_checkpoint_newest(run->out_dir, step, &n);
        if (n == 0)
            return;
        if (i >= keep && io_checkpoint_path(run->out_dir, step, path))
            io_remove_file(run->context, path);
    }
}

/* ---- writing ------------------------------------------------------------- */

static uint64_t restart_fold_law(uint64_t hash,
                                 const struct storm_power_law *law)
{
    const double values[] = {law->coef, law->t_exp, law->e_exp, law->min,
                             law->max};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = storm_hash_fold_real(hash, values[i]);
    return law->rho_exp != 0.0 ? storm_hash_fold_real(hash, law->rho_exp)
                               : hash;
}

/* All that the meaning of a cell's state depends on: the laws of its material
 * (not its name or initial state), the groups of its packets, and the units. */
static uint64_t restart_fold_matter(uint64_t hash,
                                    const struct storm_problem *p, int material)
{
    const double values[] = {p->light_cm_s, p->radiation_erg_cm3_kev4,
                             p->group_min_kev, p->group_max_kev};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        hash = storm_hash_fold_real(hash, values[i]);
    for (size_t g = 0; p->group_edge_kev != NULL && g <= p->n_groups; g++)
        hash = storm_hash_fold_real(hash, p->group_edge_kev[g]);
    if (p->group_average != STORM_GROUP_MIDDLE)
        hash = storm_hash_fold(hash, (uint64_t)p->group_average);
    if (material < 0 || material >= (int)p->n_materials)
        return storm_hash_fold(hash, material < 0 ? 1 : 2);
    const struct storm_material *m = &p->materials[material];
    if (m->scattering_law != STORM_SCATTER_ISOTROPIC)
        hash = storm_hash_fold(hash, (uint64_t)m->scattering_law);
    if (m->electrons_per_g != 0.0)
        hash = storm_hash_fold_real(hash, m->electrons_per_g);
    if (m->matter != NULL)
        return storm_hash_fold(hash, storm_table_hash(m->matter->self));
    hash = restart_fold_law(hash, &m->absorption);
    hash = restart_fold_law(hash, &m->scattering);
    return restart_fold_law(hash, &m->heat_capacity);
}

storm_status run_hashes(const struct run *run, struct run_first *hashes_out)
{
    uint64_t sum = 0; /* over all cells, in any order */
    for (storm_cell_idx i = 0; i < storm_mesh_n_cells(run->mesh); i++)
        sum +=
            restart_fold_matter(storm_hash_fold(0, storm_mesh_cell_id(run->mesh,
                                                                      i)),
                                &run->problem, storm_imc_material(run->imc, i));
    storm_status status =
        storm_context_reduce(run->context, &sum, 1, MPI_UINT64_T, MPI_SUM);
    hashes_out->matter_hash = sum;
    hashes_out->next_tag = storm_mesh_next_tag(run->mesh);
    return status < 0
               ? status
               : io_cells_hash(run->context, run->mesh, &hashes_out->mesh_hash);
}

static storm_status restart_head(struct run *run,
                                 struct io_checkpoint_head *head_out)
{
    struct io_checkpoint_head head = {
        .step = run->step,
        .n_cells = storm_mesh_n_cells_total(run->mesh),
        .n_groups = run->problem.n_groups,
        .seed = run->problem.seed,
        .start_s = run->start_s,
        .time_s = run->time_s,
        .nominal_s = run->nominal_s,
        .worst_balance = run->worst_balance,
    };
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(run->engine, &stats);
    uint64_t counts[4] = {stats.census, stats.created + run->before.created,
                          stats.absorbed + run->before.absorbed,
                          stats.escaped + run->before.escaped};
    storm_status status =
        storm_context_reduce(run->context, counts, 4, MPI_UINT64_T, MPI_SUM);
    head.n_packets = counts[0];
    head.created = counts[1];
    head.absorbed = counts[2];
    head.escaped = counts[3];
    if (status == STORM_OK)
        status = storm_imc_hash(run->imc, run->engine, &head.state_hash);
    *head_out = head;
    return status;
}

/* What a mesh needs that is not the deck's at rest. */
static struct io_checkpoint_mesh restart_mesh(const struct run *run,
                                              const struct run_first *now)
{
    struct io_checkpoint_mesh mesh = {
        .source = now->mesh_hash != run->first.mesh_hash ||
                  now->next_tag != run->first.next_tag,
        .next_tag = now->next_tag,
        .first_mesh = run->first.mesh_hash,
        .first_matter = run->first.matter_hash,
        .dump_step = run->series.mesh_step,
        .dump_hash = run->series.mesh_hash,
    };
    storm_mesh_box(run->mesh, mesh.lo_cm, mesh.hi_cm);
    return mesh;
}

static storm_status restart_write(struct run *run)
{
    const struct io_source source = run_source(run);
    struct io_checkpoint_head head;
    struct run_first now;
    storm_status status = restart_head(run, &head);
    if (status == STORM_OK)
        status = run_hashes(run, &now);
    if (status < 0)
        return status;
    head.mesh_hash = now.mesh_hash;
    head.matter_hash = now.matter_hash;
    const struct io_checkpoint_mesh mesh = restart_mesh(run, &now);
    return io_checkpoint_write(&source, &run->series, &head, &mesh);
}

/* Seconds that this rank guesses for a first checkpoint: a second, and its
 * share of the packets times the ranks at 100 MB/s. */
static double restart_guess_s(const struct run *run)
{
    struct storm_stats stats = STORM_STATS_INIT;
    storm_engine_stats(run->engine, &stats);
    size_t bytes = stats.census * storm_engine_record_bytes(run->engine);
    return 1.0 + 1e-8 * (double)bytes * storm_context_size(run->context);
}

double run_checkpoint_s(const struct run *run)
{
    if (run->out_dir == NULL)
        return 0.0;
    return run->checkpoint_s > 0.0 ? run->checkpoint_s : restart_guess_s(run);
}

bool run_checkpoint_is_due(const struct run *run, bool last)
{
    uint64_t every = (uint64_t)run->deck->values.output.checkpoint.every;
    bool due = every > 0 && (run->step % every == 0 || last);
    return run->out_dir != NULL && (due || run->stopped != RUN_GOES_ON);
}

storm_status run_checkpoint(struct run *run, bool last)
{
    const struct deck_output *output = &run->deck->values.output;
    if (!run_checkpoint_is_due(run, last))
        return STORM_OK;
    double begin = storm_clock_seconds();
    storm_status status = restart_write(run);
    if (status == STORM_OK && storm_context_rank(run->context) == 0)
        restart_prune(run, (uint64_t)output->checkpoint.keep);
    run->checkpoint_s = fmax(run->checkpoint_s, storm_clock_seconds() - begin);
    return status;
}

storm_status run_drop_checkpoints(const struct run *run)
{
    char path[IO_PATH_BYTES];
    storm_status status = STORM_OK;
    size_t n = 0;
    uint64_t step = io_checkpoint_newest(run->out_dir, UINT64_MAX, &n);
    for (; n > 0; step = io_checkpoint_newest(run->out_dir, step, &n))
        if (io_checkpoint_path(run->out_dir, step, path) &&
            !io_remove_file(run->context, path)) {
            storm_context_log(run->context, STORM_LOG_ERROR,
                              "%s is of a replica that has ended and stays; "
                              "restart when it can be removed",
                              path);
            status = STORM_ERR_IO;
        }
    return status;
}

void run_drop_checkpoint(const struct run *run)
{
    char path[IO_PATH_BYTES];
    if (run->deck->values.output.checkpoint.every == 0 && run->from_step > 0 &&
        run->from_step < run->step && run_is_in_place(run) &&
        io_checkpoint_path(run->out_dir, run->from_step, path))
        io_remove_file(run->context, path);
}

/* ---- restart ------------------------------------------------------------- */

static const char restart_other_matter[] =
    "choice of materials, groups or constants";

static storm_status restart_log_other(const struct run *run, const char *path,
                                      const char *what)
{
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "%s was made with another %s; use the deck it was "
                          "made with",
                          path, what);
    return STORM_ERR_ARG;
}

/* What a mesh of the deck's kind that has changed is built from. */
static uint64_t restart_source(const struct run *run)
{
    switch (run->deck->values.mesh.kind) {
    case STORM_MESH_VORONOI:
        return IO_CHECKPOINT_GENERATORS;
    case STORM_MESH_OCTREE:
        return IO_CHECKPOINT_LEAVES;
    default:
        return IO_CHECKPOINT_DECK;
    }
}

/* CHECKPOINT-4, CHECKPOINT-6 */
static storm_status restart_fits(const struct run *run,
                                 const struct io_checkpoint *c,
                                 const char *path)
{
    const struct io_checkpoint_head *head = &c->head;
    bool moved = c->mesh.source != IO_CHECKPOINT_DECK;
    const char *other = (moved ? c->mesh.first_mesh : head->mesh_hash) !=
                                    run->first.mesh_hash ||
                                (moved && c->mesh.source != restart_source(run))
                            ? "mesh"
                        : head->n_groups != run->problem.n_groups
                            ? "number of groups"
                        : (moved ? c->mesh.first_matter : head->matter_hash) !=
                                run->first.matter_hash
                            ? restart_other_matter
                        : head->seed != run->problem.seed ? "seed"
                                                          : NULL;
    return other == NULL ? STORM_OK : restart_log_other(run, path, other);
}

/* The mesh of the checkpoint. Collective. */
static storm_status restart_rebuild(struct run *run,
                                    const struct io_checkpoint *c,
                                    const char *path)
{
    struct run_first now;
    bool moved = c->mesh.source != IO_CHECKPOINT_DECK;
    if (!moved && !run->is_rebuilt)
        return STORM_OK;
    storm_status status = run_rebuild(run, moved ? c : NULL);
    if (status == STORM_OK)
        status = run_hashes(run, &now);
    if (status < 0 || now.mesh_hash == c->head.mesh_hash)
        return status;
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "%s: expected mesh hash %016" PRIx64 ", got "
                          "%016" PRIx64 "; restart from another checkpoint",
                          path, c->head.mesh_hash, now.mesh_hash);
    return STORM_ERR_STATE;
}

/* Gives the state to the cells, wherever they are. Collective. */
static storm_status restart_load(struct run *run, const struct io_checkpoint *c)
{
    struct storm_memory *memory = storm_context_env(run->context)->memory;
    const uint64_t version = c->mesh.state_version;
    const size_t bytes = storm_imc_state_values(version) * sizeof(double);
    size_t n = (size_t)storm_mesh_n_cells(run->mesh);
    double *cells = storm_alloc(memory, "checkpoint", (n + 1) * bytes);
    storm_status status =
        storm_context_agree(run->context,
                            cells != NULL ? STORM_OK : STORM_ERR_NOMEM);
    if (status == STORM_OK)
        status = storm_mesh_unrows(run->mesh, bytes, c->cells, cells);
    if (status == STORM_OK)
        status = storm_imc_load_state(run->imc, version, cells, c->accounts);
    storm_free(memory, cells);
    return storm_context_agree(run->context, status);
}

static storm_status restart_apply(struct run *run,
                                  const struct io_checkpoint *c)
{
    const struct io_checkpoint_head *head = &c->head;
    storm_status status = restart_load(run, c);
    if (status == STORM_OK)
        status = run_tallies_load(run, c);
    for (size_t i = 0; i < c->n_packets && status == STORM_OK; i++)
        status = storm_engine_add(run->engine, (const char *)c->packets +
                                                   i * c->record_bytes);
    storm_engine_set_step(run->engine, head->step);
    run->step = run->from_step = head->step;
    run->start_s = head->start_s;
    run->time_s = head->time_s;
    run->nominal_s = head->nominal_s;
    run->worst_balance = head->worst_balance;
    run->series.mesh_step = c->mesh.dump_step;
    run->series.mesh_hash = c->mesh.dump_hash;
    if (storm_context_rank(run->context) != 0)
        return status;
    if (run_is_in_place(run)) /* else the dumps are in another directory */
        storm_page_add(&run->series.grids, "%s", c->grids);
    /* The engine counts the packets that were added here as created. */
    run->before =
        (struct storm_stats){.size = sizeof(struct storm_stats),
                             .created = head->created - head->n_packets,
                             .absorbed = head->absorbed,
                             .escaped = head->escaped};
    return status;
}

/* Checks that the state is that of the checkpoint. Collective. */
static storm_status
restart_verify(struct run *run, const struct io_checkpoint *c, const char *path)
{
    uint64_t hash, right = c->head.state_hash;
    struct run_first now;
    storm_status status = run_hashes(run, &now);
    if (status == STORM_OK && now.matter_hash != c->head.matter_hash)
        return restart_log_other(run, path, restart_other_matter);
    if (status == STORM_OK)
        status = storm_imc_hash(run->imc, run->engine, &hash);
    if (status < 0 || hash == right)
        return status;
    if (storm_context_rank(run->context) == 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "%s: expected state hash %016" PRIx64 ", got "
                          "%016" PRIx64 "; restart from another checkpoint",
                          path, right, hash);
    return STORM_ERR_STATE;
}

/* Reads it, unless it is dangerous (H5-9). The worst damage that any rank sees.
 * Collective. */
static storm_status restart_read(const struct run *run, const char *path,
                                 struct io_checkpoint *c, int *damage_out)
{
    const struct io_source source = run_source(run);
    const struct storm_env *env = storm_context_env(run->context);
    *c = (struct io_checkpoint){.memory = env->memory};
    *damage_out = env->rank == 0 && !io_h5_opens(path) ? IO_CHECKPOINT_HEAD
                                                       : IO_CHECKPOINT_SOUND;
    storm_status status =
        storm_context_reduce(run->context, damage_out, 1, MPI_INT, MPI_MAX);
    if (status < 0 || *damage_out != IO_CHECKPOINT_SOUND)
        return status < 0 ? status : STORM_ERR_IO;
    status = io_checkpoint_read(&source, path, c);
    *damage_out = c->damage;
    storm_status reduced =
        storm_context_reduce(run->context, damage_out, 1, MPI_INT, MPI_MAX);
    if (reduced == STORM_OK && *damage_out != IO_CHECKPOINT_SOUND)
        return STORM_ERR_IO;
    return reduced;
}

/* Tries one file; STORM_ERR_IO on all ranks: try the one before it. */
static storm_status restart_try(struct run *run, uint64_t step)
{
    char path[IO_PATH_BYTES];
    struct io_checkpoint c;
    int damage;
    io_checkpoint_path(run->restart_dir, step, path);
    storm_status status = restart_read(run, path, &c, &damage);
    if (status == STORM_OK)
        status = restart_fits(run, &c, path);
    if (status == STORM_OK)
        status = restart_rebuild(run, &c, path);
    if (status == STORM_OK)
        status = storm_context_agree(run->context, restart_apply(run, &c));
    if (status == STORM_OK)
        status = restart_verify(run, &c, path);
    if (storm_context_rank(run->context) == 0 && status == STORM_OK)
        storm_context_log(run->context, STORM_LOG_INFO,
                          "restarting from step %" PRIu64 " (%s)", step, path);
    if (storm_context_rank(run->context) == 0 && status == STORM_ERR_IO)
        storm_context_log(run->context, STORM_LOG_WARN, "%s %s: not used", path,
                          io_checkpoint_damage_text(damage));
    io_checkpoint_clear(&c);
    return status;
}

/* None is good; the names of damaged ones were warnings. */
static void restart_log_none(const struct run *run, uint64_t n_damaged)
{
    const char *dir = run->restart_dir;
    if (n_damaged > 0)
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "no good checkpoint in %s: %" PRIu64
                          " there, none of "
                          "which can be used; start again: storm run "
                          "%s/deck.yaml --out %s --overwrite",
                          dir, n_damaged, dir, dir);
    else
        storm_context_log(run->context, STORM_LOG_ERROR,
                          "no good checkpoint in %s, nor a damaged one; "
                          "output.checkpoint.every writes them",
                          dir);
}

storm_status run_restart(struct run *run)
{
    uint64_t n_damaged = 0;
    uint64_t below = UINT64_MAX;
    storm_status status = STORM_OK;
    while (status == STORM_OK) {
        uint64_t step = 0;
        size_t n = 0;
        if (storm_context_rank(run->context) == 0)
            step = io_checkpoint_newest(run->restart_dir, below, &n);
        status =
            storm_context_reduce(run->context, &step, 1, MPI_UINT64_T, MPI_MAX);
        if (status < 0 || step == 0)
            break;
        status = restart_try(run, step);
        if (status != STORM_ERR_IO)
            return status;
        status = STORM_OK;
        below = step;
        n_damaged++;
    }
    if (status < 0)
        return status;
    if (storm_context_rank(run->context) == 0)
        restart_log_none(run, n_damaged);
    return STORM_ERR_IO;
}
