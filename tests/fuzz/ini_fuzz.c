/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ini.h"
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the flags. Values must be views of readable memory. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    AUTO_ARENA(arena);
    struct ini ini;
    struct err *err =
        ini_parse(&ini, str_make((const char *)data + 1, size - 1), "input", data[0] & 3, arena);
    volatile char sum = 0;
    for (size_t i = 0; !err && i < ini.count; i++) {
        const struct ini_section *section = &ini.sections[i];
        for (size_t k = 0; k < section->count; k++) {
            struct str value = ini_get(&ini, section->name, section->options[k].key, S(""));
            for (size_t n = 0; n < value.n; n++)
                sum = (char)(sum + value.p[n]);
        }
    }
    err_free(err);
    return 0;
}
