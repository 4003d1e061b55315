/* SPDX-License-Identifier: Apache-2.0 */
/* Which forms are dates and what they mean was asked of svnadmin and svn 1.14.2 (TZ=UTC). */
#include "../testing.h"
#include "base/date.h"
#include <stdlib.h>
#include <time.h>

static const int64_t SECOND = 1000000;

static void the_long_form_has_27_bytes_and_six_digits_of_fraction(void **state)
{
    char text[DATE_LONG_SIZE + 1];
    date_format(text, 0);
    assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
    date_format(text, 1796053273678574); /* date -u -d @1796053273 */
    assert_string_equal(text, "2026-11-30T15:41:13.678574Z");
    date_format(text, 951827696 * SECOND + 7);
    assert_string_equal(text, "2000-02-29T12:34:56.000007Z");
    date_format(text, 253402300799 * SECOND);
    assert_string_equal(text, "9999-12-31T23:59:59.000000Z");
}

static void every_day_of_four_centuries_goes_both_ways(void **state)
{
    for (int64_t day = 0; day < 146097; day++) {
        char text[DATE_LONG_SIZE + 1], want[32];
        int64_t us = day * 86400 * SECOND + 123456, back;
        date_format(text, us);
        time_t seconds = day * 86400;
        struct tm tm;
        gmtime_r(&seconds, &tm);
        strftime(want, sizeof want, "%Y-%m-%dT00:00:00.123456Z", &tm);
        assert_string_equal(text, want);
        assert_true(date_parse(&back, str_of(text)));
        assert_true(back == us);
    }
}

static void stored_dates_are_read_as_subversion_reads_them(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"2026-11-30T15:41:13.678574Z", 1796053273678574},
        {"2026-11-30T15:41:13.6Z", 1796053273000006},
        {"2026-11-30T15:41:13.67857455Z", 1796053340857455},
        {"2026-11-30T15:41:73.678574Z", 1796053333678574},
        {"2026-02-31T15:41:13.678574Z", 1772552473678574}, /* 3 March */
        {"2026-11-30T15:41:13.678574Zxx", 1796053273678574},
        {"12026-11-30T15:41:13.678574Z", 317365573273678574},
        {"Sat 14 Oct 2000 14:15:16.123456 (day 288, dst 1, gmt_off -25200)", 971558116123456},
        {"Sat 14 Oct 2000 14:15:16.123456 (day 288, dst 0, gmt_off 003600)", 971529316123456},
        {"Xxx 14 Oct 2000 14:15:16.5 (day 0, dst 0, gmt_off 000000)", 971532916000005},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us;
        if (!date_parse(&us, str_of(cases[i].text)))
            fail_msg("%s is not read", cases[i].text);
        if (us != cases[i].us)
            fail_msg("%s is %lld", cases[i].text, (long long)us);
    }
}

static void what_subversion_refuses_is_no_stored_date(void **state)
{
    const char *bad[] = {
        "",
        "x",
        "2026-11-30",
        "2026-11-30T15:41:13Z",
        "2026-11-30 15:41:13.5Z",
        "2026-11-30T15:41:13.678574",
        "2026-11-30T15:41:13,6",
        "2026-13-30T15:41:13.678574Z",
        "1900-02-28T15:41:13.678574Z",
        "0000-01-01T00:00:00.000000Z",
        "26-1-3T5:4:3.6Z",
        "-2026-11-30T15:41:13.678574Z",
        "Sat Oct 14 14:15:16 2000 (day 288, dst 1, gmt_off -25200)",
        "99999999999999999999-11-30T15:41:13.678574Z",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t us;
        if (date_parse(&us, str_of(bad[i])))
            fail_msg("'%s' is read", bad[i]);
    }
}

static void people_write_dates_in_many_ways(void **state)
{
    const int64_t day = 1795996800, minute = day + 15 * 3600 + 41 * 60, second = minute + 13;
    const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"2026-11-30", day * SECOND},
        {"20261130", day * SECOND},
        {"2026-11-30T15:41", minute * SECOND},
        {"2026-11-30T15:41Z", minute * SECOND},
        {"2026-11-30T15:41:13", second * SECOND},
        {"2026-11-30T15:41:13.5Z", second * SECOND + 500000},
        {"2026-11-30T15:41:13.678574Z", second * SECOND + 678574},
        {"2026-11-30T15:41+02", (minute - 7200) * SECOND},
        {"2026-11-30T15:41+02:30", (minute - 9000) * SECOND},
        {"2026-11-30T15:41-0230", (minute + 9000) * SECOND},
        {"20261130T1541", minute * SECOND},
        {"20261130T154113Z", second * SECOND},
        {"20261130T1541+0200", (minute - 7200) * SECOND},
        {"2026-11-30 15:41", minute * SECOND},
        {"2026-11-30 15:41:13.5", second * SECOND + 500000},
        {"2026-11-30 15:41 +0200", (minute - 7200) * SECOND},
        {"15:41", minute * SECOND},
        {"15:41:13", second * SECOND},
        {"15:41:13.5", second * SECOND + 500000},
    };
    setenv("TZ", "UTC", 1);
    tzset();
    int64_t us;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!date_parse_human(&us, str_of(cases[i].text), (day + 80000) * SECOND))
            fail_msg("%s is not read", cases[i].text);
        if (us != cases[i].us)
            fail_msg("%s is %lld", cases[i].text, (long long)us);
    }
    assert_true(date_parse_human(&us, S("2026-1-3"), 0));
    assert_true(us == 1767398400 * SECOND);
}

static void without_a_zone_local_time_is_meant(void **state)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    int64_t us;
    assert_true(date_parse_human(&us, S("2026-11-30T01:00"), 0));
    assert_true(us == 1795996800 * SECOND);
    assert_true(date_parse_human(&us, S("2026-07-01T02:00"), 0));
    assert_true(us == 1782864000 * SECOND);
    assert_true(date_parse_human(&us, S("2026-07-01T02:00Z"), 0));
    assert_true(us == 1782871200 * SECOND);
}

static void what_svn_refuses_is_no_date_of_people(void **state)
{
    const char *bad[] = {"",
                         "HEAD",
                         "2026",
                         "2026-11",
                         "2026-11-30T15",
                         "15:41Z",
                         "2026-13-01",
                         "2026-11-30T25:00",
                         "2026-11-30x",
                         "15",
                         "2026-11-30T15:41+",
                         "2026-11-30T15:61",
                         "20261130T15:41"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t us;
        if (date_parse_human(&us, str_of(bad[i]), 0))
            fail_msg("'%s' is read", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_long_form_has_27_bytes_and_six_digits_of_fraction),
        cmocka_unit_test(every_day_of_four_centuries_goes_both_ways),
        cmocka_unit_test(stored_dates_are_read_as_subversion_reads_them),
        cmocka_unit_test(what_subversion_refuses_is_no_stored_date),
        cmocka_unit_test(people_write_dates_in_many_ways),
        cmocka_unit_test(without_a_zone_local_time_is_meant),
        cmocka_unit_test(what_svn_refuses_is_no_date_of_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
