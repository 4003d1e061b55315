/* SPDX-License-Identifier: Apache-2.0 */
/* Feed every file of the folder argv[1] to a fuzz target and print TAP: one point per file.
 * A finding crashes the run, which then fails as a whole, naming the file before it. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int n = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    if (n < 0) {
        printf("Bail out! usage: %s FOLDER\n", argv[0]);
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        AUTO_BUF(path);
        AUTO_BUF(bytes);
        buf_printf(&path, "%s/%s", argv[1], entries[i]->d_name);
        buf_char(&path, '\0');
        printf("# %s\n", entries[i]->d_name);
        fflush(stdout);
        struct err *err = file_read_all(&bytes, path.p, 16 << 20);
        if (err) {
            err_print(err, argv[0]);
            return 1;
        }
        /* A block of exactly the right size, so that the sanitizer sees a read behind the end. */
        uint8_t *data = mem_alloc(bytes.n);
        if (bytes.n)
            memcpy(data, bytes.p, bytes.n);
        LLVMFuzzerTestOneInput(data, bytes.n);
        free(data);
        printf("ok %d - %s\n", i + 1, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
