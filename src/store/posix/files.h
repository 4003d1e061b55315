/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - paths, whole-file reads and atomic replaces, folders. */
#ifndef VARVE_STORE_POSIX_FILES_H
#define VARVE_STORE_POSIX_FILES_H

#include "store/posix/posix_int.h"
#include <sys/stat.h>

enum {
    PATH_SIZE = 4096, /* a path with its NUL; PATH_MAX of Linux */
    NAME_SIZE = 320,  /* the part of it below db/ */
};

/* The file or folder of something, relative to db/. */
struct name {
    char s[NAME_SIZE];
};

void path_of(char out[PATH_SIZE], const struct posix *store, const char *name);
/* The folder of PATH. */
void path_folder(char out[PATH_SIZE], const char *path);

struct name name_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
struct name name_rev(const struct posix *store, revnum rev);        /* revs/0/5, revs/5 */
struct name name_rev_folder(const struct posix *store, revnum rev); /* revs/0, revs */
struct name name_revprops(const struct posix *store, revnum rev);   /* revprops/0/5, revprops/5 */
struct name name_revprops_folder(const struct posix *store, revnum rev);

/* open(2) for reading. Descriptors may run out where many arenas hold bodies: then those that the
 * cache holds are given up first. */
int file_open(const struct posix *store, const char *path);
/* What FD, open at PATH, is; an error unless it is a file. */
struct err *file_stat(struct stat *out, const struct posix *store, int fd, const char *path);
/* The whole of a file of a few digits, with as few system calls as can be. False where that fails
 * for any reason: file_get then tells which. */
enum { SMALL_FILE_SIZE = 128 };
bool file_get_small(char out[SMALL_FILE_SIZE], size_t *n, const struct posix *store,
                    const char *name);
/* Append the whole file NAME; *FOUND false where there is none. */
struct err *file_get(struct buf *out, bool *found, const struct posix *store, const char *name);

/* How a file is replaced. */
struct file_put {
    mode_t mode;  /* of a new file; 0: 0666 less the umask. An existing file keeps its mode */
    bool durable; /* synced with its folder, unless the store does not flush */
};
/* Replace NAME by BYTES in one step. The folder must exist: else ENOENT. */
struct err *file_put(struct posix *store, const char *name, struct str bytes, struct file_put how);
/* The two halves of it, for who has other things to do in between: a temporary file, and the
 * rename, before FD is closed. */
struct err *file_put_prepare(int *fd, char temp[PATH_SIZE], struct posix *store, const char *name,
                             struct str bytes, mode_t mode);
struct err *file_put_rename(struct posix *store, const char *temp, const char *name);

/* A new file of a unique name in db/, open for reading and writing, and locked (flock) until it is
 * closed: whoever can lock one made by another knows that its owner is dead. */
struct err *temp_open(int *fd, char path[PATH_SIZE], struct posix *store);
/* The temporary name, in db/, of a file that is written under LEASE_WRITE: WHAT ("revs") of
 * revision REV. Who has the lease and did not make it knows that its owner is dead. */
struct name name_staged(const char *what, revnum rev);
struct err *write_all(struct posix *store, int fd, struct str bytes, uint64_t offset,
                      const char *path);
struct err *set_mode(struct posix *store, int fd, mode_t mode, const char *path);

/* Make the folder NAME with the mode of folder LIKE (or, where that is missing, of db/); *MADE
 * false where it is there already. */
struct err *folder_make(bool *made, struct posix *store, const char *name, const char *like);
/* Remove the folder NAME and the files in it except the one called KEEP (then the folder stays
 * too); absent is fine. */
struct err *folder_remove(struct posix *store, const char *name, const char *keep);
struct err *folder_sync(struct posix *store,
                        const char *name); /* nothing where the store does not flush */
static inline bool store_flushes(struct posix *store)
{
    return atomic_load_explicit(&store->flush, memory_order_relaxed);
}
/* The entries of folder NAME for which KEEP_IF says true (all where NULL), sorted, without "." and
 * ".."; none where it is missing. */
struct err *folder_list(struct str **names, size_t *count, const struct posix *store,
                        const char *name, bool (*keep_if)(struct str entry), struct arena *arena);

#endif
