/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of output.lineouts. */
#include <stdio.h>
#include <string.h>

#include "deck/deck.h"

enum { LINEOUT_PATH_BYTES = 64, LINEOUT_NAME_BYTES = 100 };

bool deck_is_file_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return *name != '\0' && name[strspn(name, allowed)] == '\0' &&
           strlen(name) <= LINEOUT_NAME_BYTES;
}

/* Is there one of this name among the first n? */
static bool lineout_has_twin(const struct deck_output *output, size_t n)
{
    const char *name = output->lineouts.item[n].name;
    for (size_t i = 0; i < n; i++)
        if (output->lineouts.item[i].name != NULL &&
            strcmp(output->lineouts.item[i].name, name) == 0)
            return true;
    return false;
}

void deck_check_lineouts(struct storm_deck *deck, const struct deck_node *root,
                         struct deck_problems *problems)
{
    const struct deck_output *output = &deck->values.output;
    const struct deck_node *list =
        deck_node_find(deck_node_find(root, "output"), "lineouts");
    for (size_t i = 0; i < output->lineouts.n; i++) {
        const struct deck_lineout *l = &output->lineouts.item[i];
        const struct deck_node *map =
            list != NULL && i < list->n ? list->items[i] : NULL;
        const int line = map != NULL ? map->line : 1;
        const struct deck_node *to = deck_node_find(map, "to");
        char path[LINEOUT_PATH_BYTES];
        snprintf(path, sizeof path, "output.lineouts.%zu.name", i);
        if (l->name != NULL && !deck_is_file_name(l->name))
            deck_complain(problems, line, path,
                          "expected at most 100 letters, digits, - and _, got "
                          "%s",
                          l->name);
        else if (l->name != NULL && lineout_has_twin(output, i))
            deck_complain(problems, line, path,
                          "expected another name: there is a line-out %s",
                          l->name);
        snprintf(path, sizeof path, "output.lineouts.%zu.to", i);
        if (memcmp(l->from, l->to, sizeof l->from) == 0 && to != NULL &&
            !to->bad)
            deck_complain(problems, to->line, path,
                          "expected another place than `from`");
    }
}
