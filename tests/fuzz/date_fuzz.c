/* SPDX-License-Identifier: Apache-2.0 */
#include "base/date.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the long form prints must be read back as the same time. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t year_9999 = 253402300799999999;
    struct str text = {(const char *)data, size};
    int64_t us, back;
    if (date_parse(&us, text) && us >= 0 && us <= year_9999) {
        char again[DATE_LONG_SIZE + 1];
        date_format(again, us);
        if (!date_parse(&back, str_of(again)) || back != us)
            abort();
    }
    date_parse_human(&us, text, 1796053273678574);
    return 0;
}
