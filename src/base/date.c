/* SPDX-License-Identifier: Apache-2.0 */
#include "base/date.h"
#include <stdio.h>
#include <time.h>

static const int64_t us_per_second = 1000000;
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

int64_t date_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * us_per_second + now.tv_nsec / 1000;
}

/* Days from 1970-01-01 to YEAR-MONTH-DAY in the Gregorian calendar; MONTH is 1 to 12, DAY may be
 * any. A year is taken to begin in March, so that the leap day is its last. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    if (month <= 2) {
        year--;
        month += 12;
    }
    int64_t before = year * 365 + year / 4 - year / 100 + year / 400; /* days of the years before */
    int64_t of_year = (153 * (month - 3) + 2) / 5 + day - 1;
    return before + of_year - 719468;
}

/* DAYS may not lie before the year 0. */
static void civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t shifted = days + 719468;
    int64_t era = shifted / 146097, of_era = shifted % 146097; /* 400 years */
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = era * 400 + year_of_era + (*month <= 2);
}

static char *put_digits(char *to, int64_t n, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        to[i] = (char)('0' + n % 10);
        n /= 10;
    }
    return to + digits;
}

void date_format(char out[DATE_LONG_SIZE + 1], int64_t us)
{
    enum { SECONDS_PER_DAY = 86400 };
    int64_t fraction = us % us_per_second, seconds = us / us_per_second;
    if (fraction < 0) {
        fraction += us_per_second;
        seconds--;
    }
    int64_t of_day = seconds % SECONDS_PER_DAY, days = seconds / SECONDS_PER_DAY;
    if (of_day < 0) {
        of_day += SECONDS_PER_DAY;
        days--;
    }
    int64_t year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    char *to = put_digits(out, year, 4);
    *to++ = '-';
    to = put_digits(to, month, 2);
    *to++ = '-';
    to = put_digits(to, day, 2);
    *to++ = 'T';
    to = put_digits(to, of_day / 3600, 2);
    *to++ = ':';
    to = put_digits(to, of_day / 60 % 60, 2);
    *to++ = ':';
    to = put_digits(to, of_day % 60, 2);
    *to++ = '.';
    to = put_digits(to, fraction, 6);
    *to++ = 'Z';
    *to = '\0';
}

/* What has been read of a date; any part may be larger than a calendar has it. */
struct parts {
    int64_t year, month, day, hour, minute, second, us;
};

/* Take 1 to MAX digits off *S. */
static bool take_number(int64_t *out, struct str *s, size_t max)
{
    size_t n = 0;
    int64_t number = 0;
    while (n < s->n && n < max && s->p[n] >= '0' && s->p[n] <= '9')
        number = number * 10 + (s->p[n++] - '0');
    *out = number;
    *s = str_skip(*s, n);
    return n > 0;
}

static bool take_digits(int64_t *out, struct str *s, size_t exactly)
{
    size_t before = s->n;
    return take_number(out, s, exactly) && before - s->n == exactly;
}

static bool take_text(struct str *s, struct str text)
{
    if (!str_starts(*s, text))
        return false;
    *s = str_skip(*s, text.n);
    return true;
}

/* False before 1970, which no Subversion accepts, and where the time does not fit. The parts carry
 * over: second 73 is the next minute's 13. */
static bool to_us(int64_t *us, const struct parts *d, int64_t zone_seconds)
{
    if (d->month < 1 || d->month > 12)
        return false;
    int64_t days = days_from_civil(d->year, d->month, d->day);
    if (days < 0)
        return false;
    int64_t seconds = ((days * 24 + d->hour) * 60 + d->minute) * 60 + d->second - zone_seconds;
    return !__builtin_mul_overflow(seconds, us_per_second, us) &&
           !__builtin_add_overflow(*us, d->us, us);
}

enum { NUMBER_DIGITS = 9, YEAR_DIGITS = 5 };

/* "2026-11-30T15:41:13.678574Z". As every Subversion reads it: the digits behind the point are a
 * number of microseconds however many they are, there must be some, and what follows the Z does not
 * matter. */
static bool parse_long(int64_t *us, struct str s)
{
    struct parts d;
    return take_number(&d.year, &s, YEAR_DIGITS) && take_text(&s, S("-")) &&
           take_number(&d.month, &s, NUMBER_DIGITS) && take_text(&s, S("-")) &&
           take_number(&d.day, &s, NUMBER_DIGITS) && take_text(&s, S("T")) &&
           take_number(&d.hour, &s, NUMBER_DIGITS) && take_text(&s, S(":")) &&
           take_number(&d.minute, &s, NUMBER_DIGITS) && take_text(&s, S(":")) &&
           take_number(&d.second, &s, NUMBER_DIGITS) && take_text(&s, S(".")) &&
           take_number(&d.us, &s, NUMBER_DIGITS) && take_text(&s, S("Z")) && to_us(us, &d, 0);
}

static bool take_month_name(int64_t *month, struct str *s)
{
    for (int i = 0; i < 12; i++) {
        if (take_text(s, str_make(month_names + 3 * i, 3))) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

/* "Sat 14 Oct 2000 14:15:16.123456 (day 288, dst 1, gmt_off -25200)", written before 1.0. */
static bool parse_obsolete(int64_t *us, struct str s)
{
    struct parts d;
    int64_t unused, zone;
    if (s.n < 4 || s.p[3] != ' ')
        return false;
    s = str_skip(s, 4); /* the week-day says nothing new */
    if (!take_number(&d.day, &s, 2) || !take_text(&s, S(" ")) || !take_month_name(&d.month, &s) ||
        !take_text(&s, S(" ")) || !take_number(&d.year, &s, YEAR_DIGITS) ||
        !take_text(&s, S(" ")) || !take_number(&d.hour, &s, 2) || !take_text(&s, S(":")) ||
        !take_number(&d.minute, &s, 2) || !take_text(&s, S(":")) ||
        !take_number(&d.second, &s, 2) || !take_text(&s, S(".")) ||
        !take_number(&d.us, &s, NUMBER_DIGITS) || !take_text(&s, S(" (day ")) ||
        !take_number(&unused, &s, 3) || !take_text(&s, S(", dst ")) ||
        !take_number(&unused, &s, 1) || !take_text(&s, S(", gmt_off ")))
        return false;
    bool west = take_text(&s, S("-"));
    if (!take_number(&zone, &s, 6))
        return false;
    return to_us(us, &d, west ? -zone : zone);
}

bool date_parse(int64_t *us, struct str s)
{
    return parse_long(us, s) || parse_obsolete(us, s);
}

/* hh:mm[:ss[.fraction]], or without the colons where COMPACT. */
static bool take_time(struct parts *d, struct str *s, bool compact)
{
    struct str colon = compact ? S("") : S(":");
    if (!(compact ? take_digits(&d->hour, s, 2) : take_number(&d->hour, s, 2)) ||
        !take_text(s, colon) || !take_digits(&d->minute, s, 2))
        return false;
    if (s->n == 0 || (compact ? s->p[0] < '0' || s->p[0] > '9' : s->p[0] != ':'))
        return true;
    if (!take_text(s, colon) || !take_digits(&d->second, s, 2))
        return false;
    if (!take_text(s, S(".")) && !take_text(s, S(",")))
        return true;
    size_t digits = s->n;
    if (!take_number(&d->us, s, 6))
        return false;
    for (digits -= s->n; digits < 6; digits++)
        d->us *= 10;
    while (s->n && s->p[0] >= '0' && s->p[0] <= '9')
        *s = str_skip(*s, 1);
    return true;
}

/* [Z | (+|-)hh[[:]mm]]; *LOCAL where there is none. */
static bool take_zone(bool *local, int64_t *seconds, struct str *s)
{
    *seconds = 0;
    *local = s->n == 0;
    if (*local || take_text(s, S("Z")))
        return true;
    bool west = take_text(s, S("-"));
    int64_t hours, minutes = 0;
    if (!west && !take_text(s, S("+")))
        return false;
    if (!take_digits(&hours, s, 2))
        return false;
    take_text(s, S(":"));
    if (s->n && !take_digits(&minutes, s, 2))
        return false;
    if (hours > 23 || minutes > 59)
        return false;
    *seconds = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
    return true;
}

static bool parts_are_real(const struct parts *d)
{
    return d->month >= 1 && d->month <= 12 && d->day >= 1 && d->day <= 31 && d->hour <= 23 &&
           d->minute <= 59 && d->second <= 60;
}

static bool local_to_us(int64_t *us, const struct parts *d)
{
    struct tm tm = {
        .tm_year = (int)d->year - 1900,
        .tm_mon = (int)d->month - 1,
        .tm_mday = (int)d->day,
        .tm_hour = (int)d->hour,
        .tm_min = (int)d->minute,
        .tm_sec = (int)d->second,
        .tm_isdst = -1,
    };
    time_t seconds = mktime(&tm);
    *us = (int64_t)seconds * us_per_second + d->us;
    return seconds >= 0;
}

/* YYYY-M-D or YYYYMMDD. */
static bool take_day(struct parts *d, struct str *s, bool *compact)
{
    if (!take_digits(&d->year, s, 4))
        return false;
    *compact = !take_text(s, S("-"));
    if (*compact)
        return take_digits(&d->month, s, 2) && take_digits(&d->day, s, 2);
    return take_number(&d->month, s, 2) && take_text(s, S("-")) && take_number(&d->day, s, 2);
}

bool date_parse_human(int64_t *us, struct str s, int64_t now_us)
{
    struct parts d = {0};
    struct str rest = s;
    bool compact, local = true;
    int64_t zone = 0;
    if (take_time(&d, &rest, false)) { /* of today */
        time_t now = (time_t)(now_us / us_per_second);
        struct tm tm;
        localtime_r(&now, &tm);
        d.year = tm.tm_year + 1900;
        d.month = tm.tm_mon + 1;
        d.day = tm.tm_mday;
    } else {
        d = (struct parts){0};
        rest = s;
        if (!take_day(&d, &rest, &compact))
            return false;
        if (take_text(&rest, S("T"))) {
            if (!take_time(&d, &rest, compact) || !take_zone(&local, &zone, &rest))
                return false;
        } else if (take_text(&rest, S(" "))) {
            if (!take_time(&d, &rest, false))
                return false;
            take_text(&rest, S(" "));
            if (!take_zone(&local, &zone, &rest))
                return false;
        }
    }
    if (rest.n || !parts_are_real(&d))
        return false;
    return local ? local_to_us(us, &d) : to_us(us, &d, zone);
}
