/* SPDX-License-Identifier: Apache-2.0 */
/* slowdisk - a file that takes as long as a spinning disk would.
 *
 * usage: slowdisk [--seek-ms=MS] [--rate-mb=MB] BACKING FOLDER
 *
 * Mounts on FOLDER, through FUSE, a file system of two files, and stays in the foreground until it
 * is unmounted:
 *
 *   disk    the bytes of the file BACKING, at a disk's pace
 *   stats   counts so far: seeks, reads, read_bytes, writes, written_bytes, one a line
 *
 * There is one head. A request that begins where the one before it ended only waits for its bytes
 * (120 MB/s), any other waits for a seek too (8 ms). Requests are served one at a time in the order
 * in which they come, without a cache, as a disk does with its queue and write cache turned off; so
 * `disk` is to be used under a loop device with direct I/O, whose file system is then the only
 * cache. bench/slowdisk.py does all of that. */

#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char disk_path[] = "/disk", stats_path[] = "/stats";

enum {
    STATS_SIZE = 256,
    PAUSE_NS = 1000000, /* between two requests of one sequence */
};

struct slowdisk {
    char *backing;
    double seek_ms, rate_mb;
    int fd;
    off_t size;
    off_t head;       /* where the last request ended */
    uint64_t free_at; /* and when */
    uint64_t seeks, reads, read_bytes, writes, written_bytes;
};

static struct slowdisk the = {.seek_ms = 8, .rate_mb = 120, .fd = -1};

static const struct fuse_opt options[] = {
    {"--seek-ms=%lf", offsetof(struct slowdisk, seek_ms), 0},
    {"--rate-mb=%lf", offsetof(struct slowdisk, rate_mb), 0},
    FUSE_OPT_END,
};

/* ---- time ---- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* Move the head over SIZE bytes at OFFSET; returns when it has done so. A disk that is read in
 * sequence does not stop between two requests: the next one counts from the end of the last. */
static uint64_t head_move(size_t size, off_t offset)
{
    uint64_t begin = now_ns();
    double ns = (double)size * 1e3 / the.rate_mb;
    if (offset != the.head) {
        the.seeks++;
        ns += the.seek_ms * 1e6;
    } else if (begin - the.free_at < PAUSE_NS) {
        begin = the.free_at;
    }
    the.head = offset + (off_t)size;
    the.free_at = begin + (uint64_t)ns;
    return the.free_at;
}

/* ---- the files ---- */

static void *disk_init(struct fuse_conn_info *conn, struct fuse_config *config)
{
    (void)conn;
    config->nullpath_ok = 0;
    prctl(PR_SET_TIMERSLACK, 1000UL); /* a sleep of a millisecond should not be one of 1.05 */
    return NULL;
}

static int disk_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
    (void)info;
    *st = (struct stat){.st_nlink = 1, .st_uid = getuid(), .st_gid = getgid()};
    if (strcmp(path, "/") == 0) {
        st->st_mode = S_IFDIR | 0755;
        st->st_nlink = 2;
    } else if (strcmp(path, disk_path) == 0) {
        st->st_mode = S_IFREG | 0600;
        st->st_size = the.size;
    } else if (strcmp(path, stats_path) == 0) {
        st->st_mode = S_IFREG | 0444;
    } else {
        return -ENOENT;
    }
    return 0;
}

static int disk_readdir(const char *path, void *list, fuse_fill_dir_t fill, off_t offset,
                        struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    (void)offset, (void)info, (void)flags;
    if (strcmp(path, "/") != 0)
        return -ENOENT;
    const char *const names[] = {".", "..", disk_path + 1, stats_path + 1};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fill(list, names[i], NULL, 0, 0);
    return 0;
}

static int disk_open(const char *path, struct fuse_file_info *info)
{
    const bool is_stats = strcmp(path, stats_path) == 0;
    if (!is_stats && strcmp(path, disk_path) != 0)
        return -ENOENT;
    if (is_stats && (info->flags & O_ACCMODE) != O_RDONLY)
        return -EACCES;
    info->direct_io = 1; /* every request is to come here */
    return 0;
}

static int stats_read(char *buffer, size_t size, off_t offset)
{
    char text[STATS_SIZE];
    const int n = snprintf(text, sizeof text,
                           "seeks %" PRIu64 "\nreads %" PRIu64 "\nread_bytes %" PRIu64
                           "\nwrites %" PRIu64 "\nwritten_bytes %" PRIu64 "\n",
                           the.seeks, the.reads, the.read_bytes, the.writes, the.written_bytes);
    if (offset >= n)
        return 0;
    if (size > (size_t)(n - offset))
        size = (size_t)(n - offset);
    memcpy(buffer, text + offset, size);
    return (int)size;
}

static int disk_read(const char *path, char *buffer, size_t size, off_t offset,
                     struct fuse_file_info *info)
{
    (void)info;
    if (strcmp(path, stats_path) == 0)
        return stats_read(buffer, size, offset);
    const uint64_t done = head_move(size, offset);
    const ssize_t n = pread(the.fd, buffer, size, offset);
    if (n < 0)
        return -errno;
    the.reads++;
    the.read_bytes += (uint64_t)n;
    sleep_until(done);
    return (int)n;
}

static int disk_write(const char *path, const char *buffer, size_t size, off_t offset,
                      struct fuse_file_info *info)
{
    (void)path, (void)info;
    if (offset > the.size || size > (size_t)(the.size - offset))
        return -ENOSPC;
    const uint64_t done = head_move(size, offset);
    const ssize_t n = pwrite(the.fd, buffer, size, offset);
    if (n < 0)
        return -errno;
    the.writes++;
    the.written_bytes += (uint64_t)n;
    sleep_until(done);
    return (int)n;
}

/* What was written is on the disk: there is no write cache. */
static int disk_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
    (void)path, (void)data_only, (void)info;
    return 0;
}

/* ---- start ---- */

/* The first word that is not an option is the backing file; the rest is for FUSE. */
static int take_argument(void *data, const char *arg, int key, struct fuse_args *args)
{
    (void)data, (void)args;
    if (key != FUSE_OPT_KEY_NONOPT || the.backing)
        return 1;
    the.backing = strdup(arg);
    return the.backing ? 0 : -1;
}

static bool backing_open(void)
{
    struct stat st;
    the.fd = open(the.backing, O_RDWR | O_CLOEXEC);
    if (the.fd < 0 || fstat(the.fd, &st) != 0) {
        fprintf(stderr, "slowdisk: can't open '%s': %s\n", the.backing, strerror(errno));
        return false;
    }
    the.size = st.st_size;
    return true;
}

int main(int argc, char **argv)
{
    static const struct fuse_operations operations = {
        .init = disk_init,
        .getattr = disk_getattr,
        .readdir = disk_readdir,
        .open = disk_open,
        .read = disk_read,
        .write = disk_write,
        .fsync = disk_fsync,
    };
    struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
    int status = 2;
    if (fuse_opt_parse(&args, &the, options, take_argument) != 0)
        goto end;
    if (!the.backing || the.seek_ms < 0 || !(the.rate_mb > 0)) {
        fputs("usage: slowdisk [--seek-ms=MS] [--rate-mb=MB] BACKING FOLDER\n", stderr);
        goto end;
    }
    status = 1;
    /* One thread: requests keep their order. */
    if (backing_open() && fuse_opt_add_arg(&args, "-f") == 0 && fuse_opt_add_arg(&args, "-s") == 0)
        status = fuse_main(args.argc, args.argv, &operations, NULL);
end:
    fuse_opt_free_args(&args);
    free(the.backing);
    if (the.fd >= 0)
        close(the.fd);
    return status;
}
