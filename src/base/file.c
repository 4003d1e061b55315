/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/stream.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct err *file_read_all(struct buf *out, const char *path, size_t limit)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_errno(errno, "Can't open file '%s'", path);
    if (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)) {
        close(fd);
        return err_make(E_BAD_FILENAME, "'%s' is not a file", path);
    }
    struct reader *r = reader_of_fd(fd, true, path);
    struct err *err = reader_all(out, r, limit);
    reader_close(r);
    if (err)
        return err->code == E_INCOMPLETE_DATA
                   ? err_wrap(err, 0, "File '%s' is larger than it may be", path)
                   : err;
    buf_char(out, '\0');
    out->n--;
    return NULL;
}

struct err *file_write_all(const char *path, struct str content, unsigned mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0)
        return err_errno(errno, "Can't open file '%s'", path);
    struct writer *w = writer_of_fd(fd, false, 0, path);
    struct err *err = writer_write(w, content);
    writer_close(w);
    if (close(fd) < 0 && !err)
        err = err_errno(errno, "Can't close file '%s'", path);
    return err;
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool dir_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool dir_is_empty(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool empty = true;
    struct dirent *entry;
    while (empty && (entry = readdir(dir)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    return empty;
}
