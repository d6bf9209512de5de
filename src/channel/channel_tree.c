/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of ranks along which wave messages travel. */
#include "channel/channel_message.h"
#include "channel/channel_ops.h"

/* A binary tree of numbers: i is under (i - 1) / 2. */
static int above(int i)
{
    return (i - 1) / 2;
}

static enum storm_link side(int i, enum storm_link first)
{
    return (enum storm_link)((int)first + (i - 1) % 2);
}

/* Without a table the numbers are the ranks. */
static int rank_at(const int *table, int i)
{
    return table ? table[i] : i;
}

struct storm_tree storm_tree_at(const struct storm_tree_place *p)
{
    struct storm_tree tree = {.rank = {-1, -1, -1, -1, -1}};
    int i = p->i_near, k = p->i_far;
    for (int child = 0; child < 2; child++) {
        int near = 2 * i + 1 + child, far = 2 * k + 1 + child;
        if (near < p->n_near)
            tree.rank[STORM_LINK_NEAR_0 + child] = rank_at(p->near, near);
        if (i == 0 && far < p->n_far)
            tree.rank[STORM_LINK_FAR_0 + child] = rank_at(p->far, far);
    }
    if (i > 0) {
        tree.rank[STORM_LINK_PARENT] = rank_at(p->near, above(i));
        tree.back = side(i, STORM_LINK_NEAR_0);
    } else if (k > 0) {
        tree.rank[STORM_LINK_PARENT] = rank_at(p->far, above(k));
        tree.back = side(k, STORM_LINK_FAR_0);
    }
    return tree;
}

struct storm_tree storm_tree_one_node(int rank, int size)
{
    return storm_tree_at(&(struct storm_tree_place){.i_near = rank,
                                                    .n_near = size});
}

void storm_control_fail(struct storm_control *control,
                        const struct storm_tree *tree)
{
    struct storm_message message = {.kind = STORM_MESSAGE_FAIL};
    for (int i = 0; i < STORM_N_LINKS; i++)
        if (tree->rank[i] >= 0)
            (void)control->ops->send(control, tree->rank[i], &message);
}
