/* SPDX-License-Identifier: BSD-3-Clause */
#include "mesh/voronoi/voronoi_ghost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <storm/context.h>

#include "base/boot.h"
#include "base/port.h"
#include "mesh/mesh_message.h"

static const char ghost_label[] = "mesh ghosts";

enum {
    GHOST_BALL_WORDS = sizeof(struct voronoi_ball) / sizeof(uint64_t),
    GHOST_WORDS = sizeof(struct voronoi_ghost) / sizeof(uint64_t),
    GHOST_WORD_BITS = 64
};

/* One bit for each own generator that has been sent to `rank` as this image. */
struct voronoi_sent {
    int rank;
    int64_t image;
    uint64_t *bits;
};

/* ---- boxes -------------------------------------------------------------- */

static double ghost_gap2(const struct voronoi_box *a, const double lo[3],
                         const double hi[3])
{
    double gap2 = 0.0;
    for (int d = 0; d < 3; d++) {
        double gap = fmax(fmax(a->lo[d] - hi[d], lo[d] - a->hi[d]), 0.0);
        gap2 += gap * gap;
    }
    return gap2;
}

static bool ghost_touches(const struct voronoi_box *box, const double shift[3],
                          const struct voronoi_ball *ball)
{
    const double x[3] = {ball->x[0] - shift[0], ball->x[1] - shift[1],
                         ball->x[2] - shift[2]};
    /* with a margin for rounding */
    return ghost_gap2(box, x, x) <=
           ball->radius * ball->radius * (1.0 + 0x1p-40);
}

static void ghost_own_boxes(const struct voronoi_points *points,
                            struct voronoi_box boxes[VORONOI_RANK_BOXES])
{
    for (int64_t k = 0; k < VORONOI_RANK_BOXES; k++)
        voronoi_points_box(points,
                           (int32_t)(points->n_own * k / VORONOI_RANK_BOXES),
                           (int32_t)(points->n_own * (k + 1) /
                                     VORONOI_RANK_BOXES),
                           boxes[k].lo, boxes[k].hi);
}

static void ghost_find_images(const struct voronoi_space *space,
                              struct voronoi_images *images_out)
{
    images_out->n = 0;
    for (int32_t i = -VORONOI_LAST_IMAGE; i <= VORONOI_LAST_IMAGE; i++) {
        double *shift = images_out->shift[images_out->n];
        int32_t code = i + VORONOI_LAST_IMAGE;
        const int32_t s[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
        bool is_there = true;
        for (int d = 0; d < 3; d++)
            is_there = is_there && (s[d] == 0 || space->period[d] > 0.0);
        if (!is_there)
            continue;
        voronoi_image_shift(space, i, shift);
        images_out->image[images_out->n++] = i;
    }
}

static size_t ghost_n_sights(const struct voronoi_ghosts *ghosts)
{
    return (size_t)ghosts->env->size * VORONOI_RANK_BOXES *
           (size_t)ghosts->images.n;
}

/* All of them: by rank, then by image. */
static struct voronoi_sight ghost_sight(const struct voronoi_ghosts *ghosts,
                                        size_t i)
{
    size_t rank = i / VORONOI_RANK_BOXES / (size_t)ghosts->images.n;
    size_t image = i / VORONOI_RANK_BOXES % (size_t)ghosts->images.n;
    return (struct voronoi_sight){
        .box = (int32_t)(rank * VORONOI_RANK_BOXES + i % VORONOI_RANK_BOXES),
        .image = (int32_t)image};
}

static int ghost_rank(struct voronoi_sight sight)
{
    return sight.box / VORONOI_RANK_BOXES;
}

/* Is there anything that this rank does not know from the beginning? */
static bool ghost_is_foreign(const struct voronoi_ghosts *ghosts,
                             struct voronoi_sight sight)
{
    return ghost_rank(sight) != ghosts->env->rank ||
           ghosts->images.image[sight.image] != 0;
}

/* Boxes that are as near as this rank's own box is long. */
static void ghost_find_near(struct voronoi_ghosts *ghosts)
{
    size_t n = ghost_n_sights(ghosts);
    double radius2 = 0.0;
    for (int d = 0; d < 3; d++) {
        double length = ghosts->own.hi[d] - ghosts->own.lo[d];
        radius2 += length > 0.0 ? length * length : 0.0;
    }
    ghosts->near_radius = sqrt(radius2);
    for (size_t i = 0; i < n; i++) {
        struct voronoi_sight sight = ghost_sight(ghosts, i);
        const double *shift = ghosts->images.shift[sight.image];
        double lo[3], hi[3];
        for (int d = 0; d < 3; d++) {
            lo[d] = ghosts->own.lo[d] - shift[d];
            hi[d] = ghosts->own.hi[d] - shift[d];
        }
        if (ghost_is_foreign(ghosts, sight) &&
            ghost_gap2(&ghosts->boxes[sight.box], lo, hi) <=
                radius2 * (1.0 + 0x1p-40))
            ghosts->near[ghosts->n_near++] = sight;
    }
}

storm_status voronoi_ghosts_open(struct voronoi_ghosts *ghosts,
                                 const struct storm_context *context,
                                 const struct voronoi_part *part)
{
    const struct storm_env *env = storm_context_env(context);
    const struct voronoi_points *points = &part->points;
    size_t n_boxes = (size_t)env->size * VORONOI_RANK_BOXES;
    *ghosts = (struct voronoi_ghosts){
        .context = context, .env = env, .part = &part->base};
    ghost_find_images(&points->space, &ghosts->images);
    ghosts->boxes =
        storm_alloc(env->memory, ghost_label, n_boxes * sizeof *ghosts->boxes);
    ghosts->near = storm_alloc(env->memory, ghost_label,
                               ghost_n_sights(ghosts) * sizeof *ghosts->near);
    storm_status status = ghosts->boxes != NULL && ghosts->near != NULL
                              ? STORM_OK
                              : STORM_ERR_NOMEM;
    status = storm_context_agree(context, status);
    if (status < 0)
        return status;
    struct voronoi_box mine[VORONOI_RANK_BOXES];
    ghost_own_boxes(points, mine);
    voronoi_points_box(points, 0, points->n_own, ghosts->own.lo,
                       ghosts->own.hi);
    _Static_assert(sizeof mine <= STORM_BOOT_BYTES, "too many boxes");
    status = storm_boot_allgather(env->boot, mine, sizeof mine, ghosts->boxes);
    if (status >= 0 && points->n_own > 0)
        ghost_find_near(ghosts);
    return status;
}

void voronoi_ghosts_close(struct voronoi_ghosts *ghosts)
{
    if (ghosts->env == NULL)
        return;
    struct storm_memory *memory = ghosts->env->memory;
    for (size_t i = 0; i < ghosts->n_sent; i++)
        storm_free(memory, ghosts->sent[i].bits);
    storm_free(memory, ghosts->sent);
    storm_free(memory, ghosts->array);
    storm_free(memory, ghosts->near);
    storm_free(memory, ghosts->boxes);
}

/* The next box at or after place `at` of the list that the ball touches, as
 * its place in the list; the end if there is none. A ball that reaches farther
 * than the near ones is compared with all. */
static size_t ghost_next(const struct voronoi_ghosts *ghosts,
                         const struct voronoi_ball *ball, size_t at)
{
    bool all = ball->radius > ghosts->near_radius;
    size_t n = all ? ghost_n_sights(ghosts) : ghosts->n_near;
    for (; at < n; at++) {
        struct voronoi_sight sight =
            all ? ghost_sight(ghosts, at) : ghosts->near[at];
        if ((!all || ghost_is_foreign(ghosts, sight)) &&
            ghost_touches(&ghosts->boxes[sight.box],
                          ghosts->images.shift[sight.image], ball))
            return at;
    }
    return SIZE_MAX;
}

bool voronoi_ghosts_touch(const struct voronoi_ghosts *ghosts,
                          const struct voronoi_ball *ball)
{
    return ghost_next(ghosts, ball, 0) != SIZE_MAX;
}

/* ---- questions ---------------------------------------------------------- */

struct ghost_question {
    int rank;
    struct voronoi_ball ball;
};

struct ghost_questions {
    struct ghost_question *array;
    size_t n, capacity;
};

static int ghost_by_rank(const void *left, const void *right)
{
    const struct ghost_question *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->ball.image < b->ball.image ? -1 : a->ball.image > b->ball.image;
}

static storm_status ghost_question(const struct voronoi_ghosts *ghosts,
                                   struct ghost_questions *list,
                                   const struct voronoi_ball *ball)
{
    bool all = ball->radius > ghosts->near_radius;
    struct voronoi_sight last = {.box = -VORONOI_RANK_BOXES};
    for (size_t at = ghost_next(ghosts, ball, 0); at != SIZE_MAX;
         at = ghost_next(ghosts, ball, at + 1)) {
        struct voronoi_sight sight =
            all ? ghost_sight(ghosts, at) : ghosts->near[at];
        if (ghost_rank(sight) == ghost_rank(last) && sight.image == last.image)
            continue;
        last = sight;
        void *array = list->array;
        storm_status status =
            storm_reserve(ghosts->env->memory, ghost_label, sizeof *list->array,
                          list->n + 1, &array, &list->capacity);
        if (status < 0)
            return status;
        list->array = array;
        struct ghost_question *question = &list->array[list->n++];
        *question =
            (struct ghost_question){.rank = ghost_rank(sight), .ball = *ball};
        question->ball.image = ghosts->images.image[sight.image];
        for (int d = 0; d < 3; d++)
            question->ball.x[d] -= ghosts->images.shift[sight.image][d];
    }
    return STORM_OK;
}

/* Messages of balls, one for each rank that is asked. */
static storm_status ghost_write(const struct voronoi_ghosts *ghosts,
                                struct ghost_questions *list,
                                struct storm_messages *out)
{
    const struct ghost_question *array = list->array;
    storm_status status = STORM_OK;
    if (list->n > 0)
        qsort(list->array, list->n, sizeof *list->array, ghost_by_rank);
    out->words = storm_alloc(ghosts->env->memory, ghost_label,
                             (list->n + 1) * sizeof(struct voronoi_ball));
    if (out->words == NULL)
        return STORM_ERR_NOMEM;
    for (size_t first = 0, i = 0; i < list->n && status == STORM_OK; i++) {
        memcpy(out->words + i * GHOST_BALL_WORDS, &array[i].ball,
               sizeof array[i].ball);
        if (i + 1 < list->n && array[i + 1].rank == array[i].rank)
            continue;
        status = storm_messages_add(ghosts->env, out, array[i].rank,
                                    first * GHOST_BALL_WORDS,
                                    (i + 1 - first) * GHOST_BALL_WORDS);
        first = i + 1;
    }
    return status;
}

/* ---- answers ------------------------------------------------------------ */

struct ghost_answer {
    const struct voronoi_ghosts *ghosts;
    const struct voronoi_points *points;
    uint64_t *bits; /* of the rank and the image that it asks for */
    int64_t image;
    double shift[3];
    struct voronoi_ghost *array;
    size_t n, capacity;
    storm_status status;
};

/* Adds a generator to an answer, if it is this rank's and has not been sent
 * before. */
static void ghost_visit(void *self, int32_t index)
{
    struct ghost_answer *answer = self;
    const struct voronoi_points *points = answer->points;
    int32_t own = points->cell[index];
    if (own < 0 || answer->status < 0)
        return;
    uint64_t *word = &answer->bits[own / GHOST_WORD_BITS];
    uint64_t bit = UINT64_C(1) << (own % GHOST_WORD_BITS);
    if (*word & bit)
        return;
    void *array = answer->array;
    answer->status = storm_reserve(answer->ghosts->env->memory, ghost_label,
                                   sizeof *answer->array, answer->n + 1, &array,
                                   &answer->capacity);
    if (answer->status < 0)
        return;
    *word |= bit;
    answer->array = array;
    answer->array[answer->n++] = (struct voronoi_ghost){
        .order = points->order[index],
        .tag = storm_mesh_part_tag(answer->ghosts->part, own),
        .x = {points->x[0][index] + answer->shift[0],
              points->x[1][index] + answer->shift[1],
              points->x[2][index] + answer->shift[2]},
        .rank = answer->ghosts->env->rank,
        .idx = own,
        .image = (int32_t)answer->image};
}

/* What has been sent to a rank as this image. NULL: no memory. */
static uint64_t *ghost_bits(struct voronoi_ghosts *ghosts, int rank,
                            int64_t image, int32_t n_own)
{
    struct storm_memory *memory = ghosts->env->memory;
    for (size_t i = 0; i < ghosts->n_sent; i++)
        if (ghosts->sent[i].rank == rank && ghosts->sent[i].image == image)
            return ghosts->sent[i].bits;
    void *array = ghosts->sent;
    if (storm_reserve(memory, ghost_label, sizeof *ghosts->sent,
                      ghosts->n_sent + 1, &array, &ghosts->sent_capacity) < 0)
        return NULL;
    ghosts->sent = array;
    uint64_t *bits =
        storm_alloc(memory, ghost_label,
                    ((size_t)n_own / GHOST_WORD_BITS + 1) * sizeof *bits);
    if (bits != NULL)
        ghosts->sent[ghosts->n_sent++] =
            (struct voronoi_sent){.rank = rank, .image = image, .bits = bits};
    return bits;
}

/* Adds what is in a ball that a rank asks for, and has not been sent. */
static void ghost_answer(struct voronoi_ghosts *ghosts,
                         struct ghost_answer *answer, int rank,
                         const struct voronoi_ball *ball)
{
    if (answer->bits == NULL || answer->image != ball->image) {
        answer->image = ball->image;
        voronoi_image_shift(&answer->points->space, (int32_t)ball->image,
                            answer->shift);
        answer->bits =
            ghost_bits(ghosts, rank, ball->image, answer->points->n_own);
    }
    if (answer->bits == NULL)
        answer->status = STORM_ERR_NOMEM;
    else
        voronoi_points_within(answer->points, ball->x,
                              ball->radius * ball->radius * (1.0 + 0x1p-40),
                              ghost_visit, answer);
}

/* Messages that answer the questions `in`. */
static storm_status ghost_reply(struct voronoi_ghosts *ghosts,
                                const struct voronoi_points *points,
                                const struct storm_messages *in,
                                struct storm_messages *out)
{
    struct ghost_answer answer = {.ghosts = ghosts, .points = points};
    for (size_t i = 0; i < in->n && answer.status >= 0; i++) {
        const struct storm_message *message = &in->array[i];
        size_t before = answer.n;
        answer.bits = NULL;
        for (size_t k = 0; k < message->n_words && answer.status >= 0;
             k += GHOST_BALL_WORDS) {
            struct voronoi_ball ball;
            memcpy(&ball, in->words + message->first + k, sizeof ball);
            ghost_answer(ghosts, &answer, message->rank, &ball);
        }
        if (answer.status >= 0)
            answer.status =
                storm_messages_add(ghosts->env, out, message->rank,
                                   before * GHOST_WORDS,
                                   (answer.n - before) * GHOST_WORDS);
    }
    out->words = (uint64_t *)(void *)answer.array;
    return answer.status;
}

/* ---- merge -------------------------------------------------------------- */

static int ghost_by_order(const void *left, const void *right)
{
    const struct voronoi_ghost *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->image < b->image ? -1 : a->image > b->image;
}

static storm_status ghost_store(struct voronoi_ghosts *ghosts,
                                const struct storm_messages *in)
{
    for (size_t i = 0; i < in->n; i++) {
        size_t n = in->array[i].n_words / GHOST_WORDS;
        void *array = ghosts->array;
        storm_status status =
            storm_reserve(ghosts->env->memory, ghost_label,
                          sizeof *ghosts->array, ghosts->n + n, &array,
                          &ghosts->capacity);
        if (status < 0)
            return status;
        ghosts->array = array;
        memcpy(ghosts->array + ghosts->n, in->words + in->array[i].first,
               n * sizeof *ghosts->array);
        ghosts->n += n;
    }
    if (ghosts->n > 0)
        qsort(ghosts->array, ghosts->n, sizeof *ghosts->array, ghost_by_order);
    return STORM_OK;
}

storm_status voronoi_ghosts_ask(struct voronoi_ghosts *ghosts,
                                storm_status status,
                                const struct voronoi_ball *balls, size_t n,
                                struct voronoi_points *points)
{
    const struct storm_env *env = ghosts->env;
    struct ghost_questions list = {.n = 0};
    struct storm_messages questions = {.n = 0}, asked = {.n = 0};
    struct storm_messages answers = {.n = 0}, received = {.n = 0};
    for (size_t i = 0; i < n && status >= 0; i++)
        status = ghost_question(ghosts, &list, &balls[i]);
    if (status >= 0)
        status = ghost_write(ghosts, &list, &questions);
    status =
        storm_messages_exchange(ghosts->context, status, &questions, &asked);
    if (status >= 0) {
        status = ghost_reply(ghosts, points, &asked, &answers);
        status = storm_messages_exchange(ghosts->context, status, &answers,
                                         &received);
    }
    if (status >= 0 && received.n > 0) {
        status = ghost_store(ghosts, &received);
        if (status >= 0)
            status = voronoi_points_merge(points, env->memory, ghosts->array,
                                          ghosts->n);
    }
    storm_messages_release(env, &received);
    storm_messages_release(env, &answers);
    storm_messages_release(env, &asked);
    storm_messages_release(env, &questions);
    storm_free(env->memory, list.array);
    return status;
}
