/* SPDX-License-Identifier: Apache-2.0 */
/* Header lines of representations. What is read, written again, must be read the same. */
#include "fsfs/read/rep.h"
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
    struct rep_header header, again;
    struct err *err = rep_header_parse(&header, str_make((const char *)data, size));
    if (err) {
        err_free(err);
        return 0;
    }
    must(header.length <= size, "a line longer than the text");
    AUTO_BUF(line);
    buf_cstr(&line, header.delta ? "DELTA" : "PLAIN");
    if (header.base_rev != REV_NONE)
        buf_printf(&line, " %lld %llu %llu", (long long)header.base_rev,
                   (unsigned long long)header.base_item, (unsigned long long)header.base_size);
    buf_char(&line, '\n');
    err = rep_header_parse(&again, buf_view(&line));
    must(!err, "written again it cannot be read");
    must(again.delta == header.delta && again.base_rev == header.base_rev &&
             again.base_item == header.base_item && again.base_size == header.base_size,
         "written again it is another one");
    return 0;
}
