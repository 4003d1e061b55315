/* SPDX-License-Identifier: Apache-2.0 */
/* Packed revision properties and their manifest.
 *
 *   [0: pack, 1: manifest] [bytes] */
#include "fsfs/read/revprops.h"
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

static struct err *check_pack(struct str bytes, struct arena *arena)
{
    struct revprop_pack pack;
    TRY(revprop_pack_parse(&pack, bytes, arena));
    must(pack.first >= 0 && pack.count > 0, "an impossible range");
    for (size_t i = 1; i < pack.count; i++)
        must(pack.values[i].p == pack.values[i - 1].p + pack.values[i - 1].n, "a gap");
    unsigned sum = 0; /* every byte is there to be read */
    for (size_t i = 0; i < pack.count; i++)
        for (size_t at = 0; at < pack.values[i].n; at++)
            sum += (unsigned char)pack.values[i].p[at];
    must(sum != UINT32_MAX, "impossible");
    return NULL;
}

static struct err *check_manifest(struct str text, struct arena *arena)
{
    struct str *names;
    size_t n;
    TRY(revprop_manifest_parse(&names, &n, text, arena));
    for (size_t i = 0; i < n; i++)
        must(names[i].n >= 3 && str_find(names[i], '/') == SIZE_MAX, "no name of a pack");
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    AUTO_ARENA(arena);
    struct str bytes = str_skip(str_make((const char *)data, size), 1);
    err_free(data[0] % 2 ? check_manifest(bytes, arena) : check_pack(bytes, arena));
    return 0;
}
