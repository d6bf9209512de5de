/* SPDX-License-Identifier: BSD-3-Clause */
/* TEST timeout: 20 */
/*
 * TREE-1, TREE-2: the tree of waves knows nodes. On any number of nodes of any
 * sizes, with ranks placed in blocks or in turn, every rank is reached from
 * rank 0 once, a child knows its link at its parent, only leaders are linked
 * across the network, and a wave crosses it as often as a binary tree of the
 * nodes is deep: 6 times for 120 nodes of 112 ranks, where a tree of the 13,440
 * ranks that knows no nodes crosses it up to 13 times.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "channel/channel_ops.h"
#include "support/check.h"

struct machine {
    int n_nodes, n_ranks;
    int *node, *i_near;   /* of every rank */
    int *n_near, *leader; /* of every node */
    int **near;
};

static int *ints(int n)
{
    int *list = calloc((size_t)n, sizeof *list);
    CHECK(list);
    return list;
}

/* Ranks r of a node: in blocks, or every n_nodes-th while there is room. */
static struct machine make(int n_nodes, const int *sizes, bool in_turn)
{
    struct machine m = {.n_nodes = n_nodes};
    for (int k = 0; k < n_nodes; k++)
        m.n_ranks += sizes[k];
    m.node = ints(m.n_ranks);
    m.i_near = ints(m.n_ranks);
    m.n_near = ints(n_nodes);
    m.leader = ints(n_nodes);
    m.near = calloc((size_t)n_nodes, sizeof *m.near);
    CHECK(m.near);
    for (int k = 0; k < n_nodes; k++)
        m.near[k] = ints(sizes[k]);
    for (int rank = 0, k = 0; rank < m.n_ranks; rank++) {
        while (m.n_near[k] == sizes[k])
            k = (k + 1) % n_nodes;
        m.node[rank] = k;
        m.i_near[rank] = m.n_near[k];
        m.near[k][m.n_near[k]++] = rank;
        if (in_turn)
            k = (k + 1) % n_nodes;
    }
    for (int k = 0; k < n_nodes; k++)
        m.leader[k] = m.near[k][0];
    return m;
}

static void unmake(struct machine *m)
{
    for (int k = 0; k < m->n_nodes; k++)
        free(m->near[k]);
    free(m->near);
    free(m->node);
    free(m->i_near);
    free(m->n_near);
    free(m->leader);
}

static struct storm_tree tree_of(const struct machine *m, int rank)
{
    int k = m->node[rank];
    return storm_tree_at(&(struct storm_tree_place){.i_near = m->i_near[rank],
                                                    .n_near = m->n_near[k],
                                                    .i_far = k,
                                                    .n_far = m->n_nodes,
                                                    .near = m->near[k],
                                                    .far = m->leader});
}

static int depth_of_binary(int n)
{
    int depth = 0;
    while (n >> (depth + 1) > 0)
        depth++;
    return depth;
}

/* Follows links down from `rank`; counts ranks and links across the network. */
static int visit(const struct machine *m, int rank, int crossed, int *max_inout)
{
    struct storm_tree tree = tree_of(m, rank);
    int n = 1;
    if (crossed > *max_inout)
        *max_inout = crossed;
    for (int i = STORM_LINK_CHILDREN; i < STORM_N_LINKS; i++) {
        int child = tree.rank[i];
        if (child < 0)
            continue;
        struct storm_tree its = tree_of(m, child);
        bool far = m->node[child] != m->node[rank];
        CHECK_EQ(its.rank[STORM_LINK_PARENT], rank);
        CHECK_EQ(its.back, i);
        CHECK_EQ(far, i <= STORM_LINK_FAR_1);
        if (far)
            CHECK(m->i_near[rank] == 0 && m->i_near[child] == 0);
        n += visit(m, child, crossed + far, max_inout);
    }
    return n;
}

static void check_machine(int n_nodes, const int *sizes, bool in_turn)
{
    struct machine m = make(n_nodes, sizes, in_turn);
    int crossed = 0;
    check_where("%d nodes, first of %d, in turn %d", n_nodes, sizes[0],
                (int)in_turn);
    CHECK_EQ(tree_of(&m, 0).rank[STORM_LINK_PARENT], -1);
    CHECK_EQ(visit(&m, 0, 0, &crossed), m.n_ranks);
    CHECK_EQ(crossed, depth_of_binary(n_nodes));
    unmake(&m);
}

/* All on one node: the same as a node of that many. */
static void check_one_node(int size)
{
    struct machine m = make(1, &size, false);
    for (int rank = 0; rank < size; rank++) {
        struct storm_tree a = tree_of(&m, rank);
        struct storm_tree b = storm_tree_one_node(rank, size);
        for (int i = 0; i < STORM_N_LINKS; i++)
            CHECK_EQ(a.rank[i], b.rank[i]);
        CHECK_EQ(a.back, b.back);
    }
    unmake(&m);
}

int main(void)
{
    int big[120], odd[] = {5, 1, 7, 2, 3}, ones[13];
    for (int k = 0; k < 120; k++)
        big[k] = 112;
    for (int k = 0; k < 13; k++)
        ones[k] = 1;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        check_machine(120, big, in_turn);
        check_machine(7, big, in_turn);
        check_machine(5, odd, in_turn);
        check_machine(13, ones, in_turn);
        check_machine(1, odd, in_turn);
    }
    CHECK_EQ(depth_of_binary(120), 6);
    CHECK_EQ(depth_of_binary(120 * 112), 13);
    for (int size = 1; size < 20; size++)
        check_one_node(size);
    return CHECK_PASS;
}
