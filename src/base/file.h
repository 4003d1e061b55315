/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - small conveniences over files that are not a repository's data (configuration, logs, pid
 * files, input and output of tools). Repository data go through src/store. */
#ifndef VARVE_BASE_FILE_H
#define VARVE_BASE_FILE_H

#include "base/arena.h"
#include "base/buf.h"

/* The whole file, NUL behind it. Errors: errno values with the path: "Can't open file 'P': ...".
 * More than LIMIT bytes: E_INCOMPLETE_DATA. A FIFO, where nobody may ever come to write:
 * E_BAD_FILENAME. */
struct err *file_read_all(struct buf *out, const char *path, size_t limit);
/* Create PATH with MODE, or replace what is in it. */
struct err *file_write_all(const char *path, struct str content, unsigned mode);
bool file_exists(const char *path);
bool dir_exists(const char *path);
bool dir_is_empty(const char *path);

#endif
