/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/tree/depth.h"

static const struct {
    struct str word;
    enum depth depth;
} depths[] = {
    {{"unknown", 7}, DEPTH_UNKNOWN},
    {{"exclude", 7}, DEPTH_EXCLUDE},
    {{"empty", 5}, DEPTH_EMPTY},
    {{"files", 5}, DEPTH_FILES},
    {{"immediates", 10}, DEPTH_IMMEDIATES},
    {{"infinity", 8}, DEPTH_INFINITY},
};

enum depth depth_parse(struct str word)
{
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        if (str_eq(depths[i].word, word))
            return depths[i].depth;
    return DEPTH_UNKNOWN;
}

struct str depth_word(enum depth depth)
{
    return depths[depth].word;
}
