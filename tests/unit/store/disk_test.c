/* SPDX-License-Identifier: Apache-2.0 */
/* The disk that stops: what it restores is what no sync has saved, neither more nor less. */
#include "fixture.h"
#include "store/posix/fault.h"
#include <errno.h>

struct faulty {
    struct fixture *fix;
    struct fault_disk *fault;
    struct disk *disk;
};

static struct faulty begin(void **state)
{
    struct faulty f = {.fix = *state, .fault = fault_disk_new()};
    f.disk = fault_disk_ops(f.fault);
    assert_int_equal(mkdir(f.fix->db, 0755), 0);
    return f;
}

static int create(struct faulty *f, const char *name, const char *text)
{
    int fd = f->disk->open(f->disk, at(f->fix, name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(f->disk->pwrite(f->disk, fd, text, strlen(text), 0), strlen(text));
    return fd;
}

/* A file that is on the disk for good. */
static void create_durable(struct faulty *f, const char *name, const char *text)
{
    int fd = create(f, name, text);
    assert_int_equal(f->disk->fdatasync(f->disk, fd), 0);
    assert_int_equal(f->disk->sync_folder(f->disk, f->fix->db), 0);
    close(fd);
}

static void end(struct faulty *f, enum fault_loss loss)
{
    assert_ok(fault_disk_crash(f->fault, loss));
    fault_disk_free(f->fault);
}

static void a_name_without_a_sync_of_its_folder_is_lost(void **state)
{
    struct faulty f = begin(state);
    int fd = create(&f, "a", "content");
    assert_int_equal(f.disk->fdatasync(f.disk, fd), 0);
    close(fd);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_false(is_there(f.fix, "a"));
}

static void content_without_a_sync_is_lost(void **state)
{
    struct faulty f = begin(state);
    close(create(&f, "a", "content"));
    assert_int_equal(f.disk->sync_folder(f.disk, f.fix->db), 0);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "a"), "");
}

static void what_is_synced_stays(void **state)
{
    struct faulty f = begin(state);
    create_durable(&f, "a", "content");
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "a"), "content");
}

static void a_write_after_the_sync_is_undone_to_the_byte(void **state)
{
    struct faulty f = begin(state);
    create_durable(&f, "a", "0123456789");
    int fd = f.disk->open(f.disk, at(f.fix, "a"), O_RDWR | O_CLOEXEC, 0);
    assert_int_equal(f.disk->pwrite(f.disk, fd, "xyz", 3, 8), 3);
    assert_int_equal(f.disk->ftruncate(f.disk, fd, 4), 0);
    assert_int_equal(f.disk->fchmod(f.disk, fd, 0600), 0);
    assert_str(content(f.fix, "a"), "0123");
    close(fd);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "a"), "0123456789");
    assert_int_equal(mode_of(f.fix, "a"), 0644);
}

static void a_replaced_file_comes_back(void **state)
{
    struct faulty f = begin(state);
    create_durable(&f, "current", "1");
    int fd = create(&f, "temp", "2");
    assert_int_equal(f.disk->fdatasync(f.disk, fd), 0);
    close(fd);
    assert_int_equal(f.disk->rename(f.disk, at(f.fix, "temp"), at(f.fix, "current")), 0);
    assert_str(content(f.fix, "current"), "2");
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "current"), "1");
    assert_false(is_there(f.fix, "temp"));
}

static void a_rename_without_a_sync_of_the_content_may_leave_an_empty_file(void **state)
{
    struct faulty f = begin(state);
    create_durable(&f, "current", "1");
    close(create(&f, "temp", "2"));
    assert_int_equal(f.disk->rename(f.disk, at(f.fix, "temp"), at(f.fix, "current")), 0);
    end(&f, FAULT_LOSE_CONTENTS);
    assert_str(content(f.fix, "current"), "");
}

static void a_removed_file_comes_back(void **state)
{
    struct faulty f = begin(state);
    create_durable(&f, "a", "content");
    assert_int_equal(f.disk->unlink(f.disk, at(f.fix, "a")), 0);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "a"), "content");
}

static void a_removed_folder_comes_back_with_its_files(void **state)
{
    struct faulty f = begin(state);
    assert_int_equal(f.disk->mkdir(f.disk, at(f.fix, "d"), 0750), 0);
    assert_int_equal(f.disk->sync_folder(f.disk, f.fix->db), 0);
    int fd = create(&f, "d/a", "content");
    assert_int_equal(f.disk->fdatasync(f.disk, fd), 0);
    close(fd);
    assert_int_equal(f.disk->sync_folder(f.disk, at(f.fix, "d")), 0);
    assert_int_equal(f.disk->unlink(f.disk, at(f.fix, "d/a")), 0);
    assert_int_equal(f.disk->rmdir(f.disk, at(f.fix, "d")), 0);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "d/a"), "content");
    assert_int_equal(mode_of(f.fix, "d"), 0750);
}

static void a_folder_is_lost_with_all_in_it_until_its_parent_is_synced(void **state)
{
    struct faulty f = begin(state);
    assert_int_equal(f.disk->mkdir(f.disk, at(f.fix, "d"), 0755), 0);
    int fd = create(&f, "d/a", "content");
    assert_int_equal(f.disk->fdatasync(f.disk, fd), 0);
    close(fd);
    assert_int_equal(f.disk->sync_folder(f.disk, at(f.fix, "d")), 0);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_false(is_there(f.fix, "d"));
}

static void a_linked_file_is_lost_until_its_folder_is_synced(void **state)
{
    struct faulty f = begin(state);
    for (int synced = 0; synced < 2; synced++) {
        int fd = f.disk->open(f.disk, f.fix->db, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
        assert_true(fd >= 0);
        assert_int_equal(f.disk->pwrite(f.disk, fd, "text", 4, 0), 4);
        assert_int_equal(f.disk->fdatasync(f.disk, fd), 0);
        assert_int_equal(f.disk->link_fd(f.disk, fd, at(f.fix, "a")), 0);
        if (synced)
            assert_int_equal(f.disk->sync_folder(f.disk, f.fix->db), 0);
        close(fd);
        assert_ok(fault_disk_crash(f.fault, FAULT_LOSE_UNSYNCED));
        assert_int_equal(is_there(f.fix, "a"), synced);
    }
    assert_str(content(f.fix, "a"), "text");
    fault_disk_free(f.fault);
}

static void a_sync_of_the_filesystem_saves_all(void **state)
{
    struct faulty f = begin(state);
    assert_int_equal(f.disk->mkdir(f.disk, at(f.fix, "d"), 0755), 0);
    int fd = create(&f, "d/a", "content");
    assert_int_equal(f.disk->syncfs(f.disk, fd), 0);
    close(fd);
    end(&f, FAULT_LOSE_UNSYNCED);
    assert_str(content(f.fix, "d/a"), "content");
}

static void the_death_of_the_process_loses_nothing(void **state)
{
    struct faulty f = begin(state);
    close(create(&f, "a", "content"));
    end(&f, FAULT_KEEP_UNSYNCED);
    assert_str(content(f.fix, "a"), "content");
}

static void from_the_chosen_operation_on_all_fail(void **state)
{
    struct faulty f = begin(state);
    fault_disk_arm(f.fault, 2);
    int fd = create(&f, "a", "content"); /* 0 and 1 */
    assert_int_equal(f.disk->pwrite(f.disk, fd, "CONTENT", 7, 0), -1);
    assert_int_equal(errno, EIO);
    assert_str(content(f.fix, "a"), "CONtent"); /* cut in its middle */
    assert_int_equal(f.disk->fdatasync(f.disk, fd), -1);
    assert_int_equal(f.disk->unlink(f.disk, at(f.fix, "a")), -1);
    assert_int_equal(f.disk->mkdir(f.disk, at(f.fix, "d"), 0755), -1);
    assert_int_equal(f.disk->rename(f.disk, at(f.fix, "a"), at(f.fix, "b")), -1);
    assert_int_equal(errno, EIO);
    assert_int_equal(fault_disk_count(f.fault), 7);
    assert_true(is_there(f.fix, "a"));
    close(fd);
    end(&f, FAULT_KEEP_UNSYNCED);
    assert_str(content(f.fix, "a"), "CONtent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_name_without_a_sync_of_its_folder_is_lost),
        STORE_TEST(content_without_a_sync_is_lost),
        STORE_TEST(what_is_synced_stays),
        STORE_TEST(a_write_after_the_sync_is_undone_to_the_byte),
        STORE_TEST(a_replaced_file_comes_back),
        STORE_TEST(a_rename_without_a_sync_of_the_content_may_leave_an_empty_file),
        STORE_TEST(a_removed_file_comes_back),
        STORE_TEST(a_removed_folder_comes_back_with_its_files),
        STORE_TEST(a_folder_is_lost_with_all_in_it_until_its_parent_is_synced),
        STORE_TEST(a_linked_file_is_lost_until_its_folder_is_synced),
        STORE_TEST(a_sync_of_the_filesystem_saves_all),
        STORE_TEST(the_death_of_the_process_loses_nothing),
        STORE_TEST(from_the_chosen_operation_on_all_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
