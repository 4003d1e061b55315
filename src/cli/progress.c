/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include "base/date.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_US = 100 * 1000, BAR_CELLS = 24 };

void progress_start(struct progress *p, bool wanted, const char *what, int64_t total)
{
    *p = (struct progress){.shown = wanted && isatty(STDERR_FILENO), .what = what, .total = total};
    p->started_us = date_now_us();
}

static void draw_bar(const struct progress *p)
{
    char bar[BAR_CELLS + 1];
    int64_t full = p->done >= p->total ? BAR_CELLS : p->done * BAR_CELLS / p->total;
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', (size_t)full);
    bar[BAR_CELLS] = 0;
    fprintf(stderr, " [%s] %3d %%", bar,
            (int)(p->done >= p->total ? 100 : p->done * 100 / p->total));
}

static void draw(struct progress *p, int64_t now_us)
{
    double seconds = (double)(now_us - p->started_us) / 1e6;
    double rate = seconds > 0 ? (double)p->done / seconds : 0;
    fprintf(stderr, "\r%s", p->what);
    if (p->total > 0)
        draw_bar(p);
    fprintf(stderr, "  %lld revisions, %.0f/s", (long long)p->done, rate);
    if (p->total > p->done && rate > 0)
        fprintf(stderr, ", %.0f s left", (double)(p->total - p->done) / rate);
    fputs("\033[K", stderr);
    p->drawn_us = now_us;
}

void progress_step(struct progress *p, int64_t done)
{
    p->done = done;
    if (!p->shown)
        return;
    int64_t now_us = date_now_us();
    if (now_us - p->drawn_us >= REDRAW_US)
        draw(p, now_us);
}

void progress_end(struct progress *p)
{
    if (!p->shown)
        return;
    draw(p, date_now_us());
    fputc('\n', stderr);
    p->shown = false;
}
