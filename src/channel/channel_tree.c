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

struct storm_tree storm_tree_at(const struct storm_tree_place *p)
{
    struct storm_tree tree = {.rank = {-1, -1, -1, -1, -1}};
    int i = p->i_near, k = p->i_far;
    for (int child = 0; child < 2; child++) {
        int near = 2 * i + 1 + child, far = 2 * k + 1 + child;
        if (near < p->n_near)
            tree.rank[STORM_LINK_NEAR_0 + child] = p->near[near];
        if (i == 0 && far < p->n_far)
            tree.rank[STORM_LINK_FAR_0 + child] = p->far[far];
    }
    if (i > 0) {
        tree.rank[STORM_LINK_PARENT] = p->near[above(i)];
        tree.back = side(i, STORM_LINK_NEAR_0);
    } else if (k > 0) {
        tree.rank[STORM_LINK_PARENT] = p->far[above(k)];
        tree.back = side(k, STORM_LINK_FAR_0);
    }
    return tree;
}

struct storm_tree storm_tree_one_node(int rank, int size)
{
    struct storm_tree tree = {.rank = {-1, -1, -1, -1, -1}};
    for (int child = 0; child < 2; child++)
        if (2 * rank + 1 + child < size)
            tree.rank[STORM_LINK_NEAR_0 + child] = 2 * rank + 1 + child;
    if (rank > 0) {
        tree.rank[STORM_LINK_PARENT] = above(rank);
        tree.back = side(rank, STORM_LINK_NEAR_0);
    }
    return tree;
}

void storm_control_fail(struct storm_control *control,
                        const struct storm_tree *tree)
{
    struct storm_message message = {.kind = STORM_MESSAGE_FAIL};
    for (int i = 0; i < STORM_N_LINKS; i++)
        if (tree->rank[i] >= 0)
            (void)control->ops->send(control, tree->rank[i], &message);
}
