/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - the time forms of Subversion; see formats.md 15. Times are microseconds since 1970, UTC. */
#ifndef VARVE_BASE_DATE_H
#define VARVE_BASE_DATE_H

#include "str.h"
#include <stdint.h>

enum { DATE_LONG_SIZE = 27 };

int64_t date_now_us(void);
/* "2026-11-30T15:41:13.678574Z", 27 bytes and a NUL. */
void date_format(char out[DATE_LONG_SIZE + 1], int64_t us);
/* The long form (fraction of any length or none) and the obsolete ctime-like form. False where S is neither. */
bool date_parse(int64_t *us, struct str s);
/* What people write after -r {...}: the forms above, YYYY-MM-DD, YYYY-MM-DDThh:mm[:ss[.ffffff]][Z|+hh[:mm]], hh:mm[:ss],
 * "YYYY-MM-DD hh:mm[:ss] [+hhmm]", in local time where no zone is given. */
bool date_parse_human(int64_t *us, struct str s, int64_t now_us);

#endif
