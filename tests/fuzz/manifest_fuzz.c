/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a physical pack, and the line at the end of a revision.
 *
 *   [n: 1 byte] [manifest of n revisions; trailer] */
#include "fsfs/read/item.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { SIZE = 100000 };
    const size_t n = size ? data[0] : 0;
    const struct str text = str_skip(str_make((const char *)data, size), 1);
    uint64_t starts[256], root, changes;
    size_t length;
    struct err *err = manifest_parse(starts, n, text, SIZE);
    for (size_t i = 0; !err && i < n; i++)
        must(starts[i] < starts[i + 1] && starts[i + 1] <= SIZE, "offsets out of order");
    err_free(err);
    err = trailer_parse(&root, &changes, &length, text);
    must(err || length <= text.n, "a line longer than the text");
    err_free(err);
    return 0;
}
