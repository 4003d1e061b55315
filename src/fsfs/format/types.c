/* SPDX-License-Identifier: Apache-2.0 */
#include "fsfs/format/types.h"

struct str node_kind_word(enum node_kind kind)
{
    switch (kind) {
    case NODE_NONE:
        return S("none");
    case NODE_FILE:
        return S("file");
    case NODE_DIR:
        return S("dir");
    case NODE_UNKNOWN:
        break;
    }
    return S("unknown");
}

enum node_kind node_kind_parse(struct str word)
{
    if (str_eq(word, S("file")))
        return NODE_FILE;
    if (str_eq(word, S("dir")))
        return NODE_DIR;
    if (str_eq(word, S("none")))
        return NODE_NONE;
    return NODE_UNKNOWN;
}
