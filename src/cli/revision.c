/* SPDX-License-Identifier: Apache-2.0 */
/* revision.c - what the tools share: revision arguments, the cache's size, opening the repository.
 */
#include "base/cache.h"
#include "base/date.h"
#include "base/num.h"
#include "cli/tool.h"
#include "repo/history/history.h"
#include "repo/history/history_locations.h"
#include <strings.h>

struct str revision_word(struct str end)
{
    while (end.n && end.p[0] == 'r')
        end = str_skip(end, 1);
    return end;
}

/* One end of a range: N, rN, HEAD, {DATE}. */
static bool parse_end(struct str word, revnum *rev, bool *head, int64_t *date_us)
{
    *head = false;
    *date_us = -1;
    *rev = REV_NONE;
    word = revision_word(word);
    if (word.n == 4 && strncasecmp(word.p, "HEAD", 4) == 0) {
        *head = true;
        return true;
    }
    if (word.n > 2 && word.p[0] == '{' && word.p[word.n - 1] == '}')
        return date_parse_human(date_us, str_make(word.p + 1, word.n - 2), date_now_us());
    return num_i64(rev, word) && *rev >= 0;
}

/* Where the colon of a range is: not one within {date}. */
static size_t find_colon(struct str arg)
{
    bool in_date = false;
    for (size_t i = 0; i < arg.n; i++) {
        if (arg.p[i] == '{')
            in_date = true;
        else if (arg.p[i] == '}')
            in_date = false;
        else if (arg.p[i] == ':' && !in_date)
            return i;
    }
    return SIZE_MAX;
}

struct err *revision_arg_check(const char *arg)
{
    struct str ends[2] = {str_of(arg), str_of(arg)};
    size_t colon = find_colon(ends[0]);
    if (colon != SIZE_MAX) {
        ends[1] = str_skip(ends[0], colon + 1);
        ends[0].n = colon;
    }
    for (int i = 0; i < 2; i++) {
        revnum rev;
        bool head;
        int64_t us;
        if (!parse_end(ends[i], &rev, &head, &us))
            return err_make(E_CL_ARG_PARSING_ERROR, "Syntax error in revision argument '%s'", arg);
    }
    return NULL;
}

static struct err *resolve_end(revnum *out, struct str word, struct fsfs *fs, revnum youngest)
{
    bool head;
    int64_t us;
    if (!parse_end(word, out, &head, &us))
        return err_make(E_CL_ARG_PARSING_ERROR, "Syntax error in revision argument '%.*s'",
                        STR(word));
    if (head)
        *out = youngest;
    else if (us >= 0)
        TRY(history_dated_rev(out, fs, us));
    if (*out > youngest)
        return err_make(E_CL_ARG_PARSING_ERROR,
                        "Revisions must not be greater than the youngest revision (%lld)",
                        (long long)youngest);
    return NULL;
}

struct err *tool_range(revnum *start, revnum *end, const struct tool_call *call, struct fsfs *fs)
{
    *start = *end = REV_NONE;
    if (!call->revision)
        return NULL;
    revnum youngest;
    TRY(fsfs_youngest(&youngest, fs));
    struct str arg = str_of(call->revision);
    size_t colon = find_colon(arg);
    struct str first = arg;
    if (colon != SIZE_MAX)
        first.n = colon;
    TRY(resolve_end(start, first, fs, youngest));
    if (colon != SIZE_MAX)
        return resolve_end(end, str_skip(arg, colon + 1), fs, youngest);
    *end = *start;
    return NULL;
}

struct err *tool_set_memory(const struct command_line *line)
{
    const char *arg = command_line_arg(line, OPT_MEMORY, NULL);
    uint64_t mb, bytes;
    if (!arg)
        return NULL;
    if (!num_u64(&mb, str_of(arg)) || !mul_u64(&bytes, mb, SHOWN_BYTES_IN_MB) || bytes > SIZE_MAX)
        return err_make(E_INCORRECT_PARAMS, "Could not convert '%s' into a number", arg);
    cache_set_limit((size_t)bytes);
    return NULL;
}

struct err *tool_open(struct repo **out, const struct tool_call *call,
                      const struct fsfs_options *options)
{
    return repo_open(out, call->repo_path, options);
}
