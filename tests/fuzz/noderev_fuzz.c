/* SPDX-License-Identifier: Apache-2.0 */
/* Node-revisions, with the ids and representations in them: what was read is written and read
 * again the same in every format. */
#include "fsfs/format/noderev.h"
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

static void write_and_read_again(const struct noderev *nr, int format)
{
    AUTO_BUF(first);
    AUTO_BUF(second);
    struct noderev *again;
    size_t used;
    noderev_format(&first, nr, format);
    struct err *err = noderev_parse(&again, &used, buf_view(&first));
    must(!err && used == first.n, "written again it cannot be read");
    must(noderev_id_eq(&again->id, &nr->id) && str_eq(again->cpath, nr->cpath) &&
             again->copyroot_rev == nr->copyroot_rev &&
             str_eq(again->copyroot_path, nr->copyroot_path),
         "written again it is another one");
    noderev_format(&second, again, format);
    must(str_eq(buf_view(&first), buf_view(&second)), "written twice, two texts");
    shared_unref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int formats[] = {1, 3, 4, 7, 8};
    struct noderev *nr;
    size_t used;
    struct err *err = noderev_parse(&nr, &used, str_make((const char *)data, size));
    if (err) {
        err_free(err);
        return 0;
    }
    must(used <= size, "more used than there was");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        write_and_read_again(nr, formats[i]);
    shared_unref(nr);
    return 0;
}
