/* SPDX-License-Identifier: Apache-2.0 */
/* date.h - the time forms of Subversion. Times are microseconds since 1970, UTC. */
#ifndef VARVE_BASE_DATE_H
#define VARVE_BASE_DATE_H

#include "base/str.h"
#include <stdint.h>

enum { DATE_LONG_SIZE = 27 };

int64_t date_now_us(void);
/* "2026-11-30T15:41:13.678574Z", 27 bytes and a NUL; US lies in the years 0 to 9999. */
void date_format(char out[DATE_LONG_SIZE + 1], int64_t us);
/* The long form, and the one written before 1.0: "Sat 14 Oct 2000 14:15:16.123456 (day 288, dst 1,
 * gmt_off -25200)". As tolerant as every Subversion: "13.6Z" is 6 microseconds after 13, second 73
 * is the next minute's 13. False where S is neither or lies before 1970. */
bool date_parse(int64_t *us, struct str s);
/* What people write after -r {...}: the forms above, YYYY-MM-DD,
 * YYYY-MM-DDThh:mm[:ss[.ffffff]][Z|+hh[:mm]], hh:mm[:ss], "YYYY-MM-DD hh:mm[:ss] [+hhmm]", in local
 * time where no zone is given. */
bool date_parse_human(int64_t *us, struct str s, int64_t now_us);

#endif
