/* SPDX-License-Identifier: Apache-2.0 */
#include "net/access_log.h"

#include "base/buf.h"
#include "base/date.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct str or_dash(struct str word)
{
    return word.n ? word : S("-");
}

static void begin_line(struct buf *line, const struct access_log *who)
{
    char date[DATE_LONG_SIZE + 1];
    date_format(date, date_now_us());
    buf_printf(line, "%ld %s %s %.*s %.*s ", (long)getpid(), date, who->address,
               STR(or_dash(who->user)), STR(or_dash(who->repository)));
}

/* Control bytes would break the line. */
static void add_escaped(struct buf *line, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '\n')
            buf_cstr(line, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(line, "\\x%02x", c);
        else
            buf_char(line, *text);
    }
}

void access_log_v(const struct access_log *who, const char *fmt, va_list args)
{
    char *text;
    if (!who->log || vasprintf(&text, fmt, args) < 0)
        return;
    AUTO_BUF(line);
    begin_line(&line, who);
    add_escaped(&line, text);
    free(text);
    log_line(who->log, buf_view(&line));
}

void access_log(const struct access_log *who, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    access_log_v(who, fmt, args);
    va_end(args);
}

void access_log_err(const struct access_log *who, const char *kind, const struct err *err)
{
    for (const char *marker = ""; err; err = err->cause, marker = "-")
        access_log(who, "%s%s - 0 %d %s", kind, marker, err->code, err->text);
}
