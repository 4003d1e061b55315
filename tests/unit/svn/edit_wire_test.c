/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "svn/edit_wire.h"
#include "svn/session.h"
#include <unistd.h>

static struct arena *arena;
static struct edit_decoder decoder;

static int setup(void **state)
{
    arena = arena_new();
    edit_decoder_init(&decoder, S("svn://host/repos"));
    return 0;
}

static int teardown(void **state)
{
    edit_decoder_free(&decoder);
    arena_free(arena);
    return 0;
}

static struct err *decode(struct edit_event *event, const char *text)
{
    int fds[2];
    struct str command;
    struct wire_item params;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
    close(fds[1]);
    struct conn *conn = conn_new(fds[0], fds[0], &svn_conn_codes);
    struct err *err = wire_read_command(&command, &params, conn, arena);
    conn_free(conn);
    close(fds[0]);
    return err ? err : edit_decode(event, &decoder, command, &params, arena);
}

static uint64_t open_root(void)
{
    struct edit_event event;
    assert_ok(decode(&event, "( open-root ( ( 3 ) 1:r ) ) "));
    assert_int_equal(event.kind, EDIT_OPEN_ROOT);
    assert_int_equal(event.rev, 3);
    return event.node;
}

static void tokens_are_opaque_and_become_numbers(void **state)
{
    struct edit_event event;
    uint64_t root = open_root();
    assert_ok(decode(&event, "( add-dir ( 1:a 1:r 9:any (\n) t ( ) ) ) "));
    assert_int_equal(event.parent, root);
    assert_true(event.node != root);
    uint64_t a = event.node;
    assert_ok(decode(&event, "( add-file ( 3:a/f 9:any (\n) t 0: ( ) ) ) "));
    assert_int_equal(event.parent, a);
    assert_null(event.copy_path.p);
    uint64_t f = event.node;
    assert_ok(decode(&event, "( change-file-prop ( 0: 1:p ( 1:v ) ) ) "));
    assert_int_equal(event.node, f);
    assert_str(event.value, "v");
    assert_ok(decode(&event, "( change-file-prop ( 0: 1:p ( ) ) ) "));
    assert_null(event.value.p);
}

static void tokens_of_what_is_closed_are_refused(void **state)
{
    struct edit_event event;
    open_root();
    assert_ok(decode(&event, "( open-file ( 1:f 1:r 1:c ( 2 ) ) ) "));
    assert_ok(decode(&event, "( close-file ( 1:c ( ) ) ) "));
    assert_err(decode(&event, "( close-file ( 1:c ( ) ) ) "), E_RA_SVN_MALFORMED_DATA, "'c'");
    assert_err(decode(&event, "( textdelta-chunk ( 1:c 3:SVN ) ) "), E_RA_SVN_MALFORMED_DATA,
               "'c'");
    assert_ok(decode(&event, "( close-dir ( 1:r ) ) "));
    assert_err(decode(&event, "( add-dir ( 1:a 1:r 1:d ( ) ) ) "), E_RA_SVN_MALFORMED_DATA, "'r'");
}

static void tokens_that_nobody_opened_are_refused(void **state)
{
    struct edit_event event;
    assert_err(decode(&event, "( close-dir ( 2:d0 ) ) "), E_RA_SVN_MALFORMED_DATA, "'d0'");
    /* A command that is refused opens nothing. */
    assert_err(decode(&event, "( add-dir ( 1:a 1:x 1:d ( ) ) ) "), E_RA_SVN_MALFORMED_DATA, "'x'");
    assert_err(decode(&event, "( close-dir ( 1:d ) ) "), E_RA_SVN_MALFORMED_DATA, "'d'");
}

static void files_are_no_folders(void **state)
{
    struct edit_event event;
    open_root();
    assert_ok(decode(&event, "( open-file ( 1:f 1:r 1:c ( 2 ) ) ) "));
    assert_err(decode(&event, "( close-dir ( 1:c ) ) "), E_RA_SVN_MALFORMED_DATA,
               "'c', which is a file");
    assert_err(decode(&event, "( add-file ( 3:f/g 1:c 1:d ( ) ) ) "), E_RA_SVN_MALFORMED_DATA,
               "'c', which is a file");
    assert_err(decode(&event, "( apply-textdelta ( 1:r ( ) ) ) "), E_RA_SVN_MALFORMED_DATA,
               "'r', which is a folder");
    assert_ok(decode(&event, "( close-file ( 1:c ( ) ) ) "));
}

static void a_token_may_be_used_again(void **state)
{
    struct edit_event event;
    open_root();
    assert_ok(decode(&event, "( open-file ( 1:f 1:r 1:c ( 2 ) ) ) "));
    uint64_t first = event.node;
    assert_ok(decode(&event, "( close-file ( 1:c ( ) ) ) "));
    assert_ok(decode(&event, "( open-file ( 1:g 1:r 1:c ( 2 ) ) ) "));
    assert_true(event.node != first);
}

static void a_copy_source_is_a_url_of_this_repository(void **state)
{
    struct edit_event event;
    open_root();
    assert_ok(decode(&event, "( add-file ( 1:f 1:r 1:c ( 24:svn://host/repos/a%20b/c 7 ) ) ) "));
    assert_str(event.copy_path, "/a b/c");
    assert_int_equal(event.copy_rev, 7);
    assert_ok(decode(&event, "( add-dir ( 1:d 1:r 1:e ( 16:svn://host/repos 7 ) ) ) "));
    assert_str(event.copy_path, "/");
    assert_null(event.copy_url.p);
}

static void a_copy_source_of_another_repository_is_told_as_it_is(void **state)
{
    static const char *const urls[] = {
        "svn://host/reposit", "svn://host/other", "/repos/a/b", "", "svn://host/repos/a%2", "http"};
    struct edit_event event;
    open_root();
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct str command = arena_printf(arena, "( add-file ( 1:f 1:r 1:c ( %zu:%s 2 ) ) ) ",
                                          strlen(urls[i]), urls[i]);
        assert_ok(decode(&event, command.p));
        assert_non_null(event.copy_url.p);
        assert_true(str_eq(event.copy_url, str_of(urls[i])));
    }
}

static void a_dotted_name_is_one_like_others(void **state)
{
    static const char *const paths[] = {"2:..",     "..",     "4:a/..",  "a/..",
                                        "6:../etc", "../etc", "5:/../a", "../a"};
    struct edit_event event;
    open_root();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i += 2) {
        struct str command = arena_printf(arena, "( delete-entry ( %s ( ) 1:r ) ) ", paths[i]);
        assert_ok(decode(&event, command.p));
        assert_true(str_eq(event.path, str_of(paths[i + 1])));
    }
}

static void what_is_no_editor_command_is_named(void **state)
{
    struct edit_event event;
    assert_err(decode(&event, "( get-latest-rev ( ) ) "), E_RA_SVN_UNKNOWN_CMD,
               "Unknown editor command 'get-latest-rev'");
}

static void missing_and_wrong_fields_are_malformed(void **state)
{
    static const char *const bad[] = {
        "( target-rev ( ) ) ",
        "( target-rev ( 1:x ) ) ",
        "( open-root ( 3 1:r ) ) ",
        "( open-root ( ( 3 ) ) ) ",
        "( delete-entry ( 1:a ( ) ) ) ",
        "( add-dir ( 1:a 1:r ) ) ",
        "( add-file ( 1:a 1:r 1:c ( 3:abc ) ) ) ",
        "( change-dir-prop ( 1:r 1:p 1:v ) ) ",
        "( close-dir ( ) ) ",
        "( textdelta-chunk ( 1:r ) ) ",
        "( textdelta-chunk ( 1:r 5 ) ) ",
        "( apply-textdelta ( 1:r ( 5 ) ) ) ",
    };
    struct edit_event event;
    open_root();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_err(decode(&event, bad[i]), E_RA_SVN_MALFORMED_DATA, NULL);
}

/* The bytes that stock svnserve sends for the same. */
static void events_are_written_as_commands(void **state)
{
    static const struct {
        struct edit_event event;
        const char *text;
    } cases[] = {
        {{.kind = EDIT_TARGET_REV, .rev = 7}, "( target-rev ( 7 ) ) "},
        {{.kind = EDIT_OPEN_ROOT, .rev = REV_NONE}, "( open-root ( ( ) 2:d0 ) ) "},
        {{.kind = EDIT_ADD_FILE, .path = S("a/f"), .parent = 0, .node = 11, .copy_rev = REV_NONE},
         "( add-file ( 3:a/f 2:d0 3:c11 ( ) ) ) "},
        {{.kind = EDIT_ADD_DIR, .path = S("a"), .node = 1, .copy_path = S("/x"), .copy_rev = 3},
         "( add-dir ( 1:a 2:d0 2:d1 ( 2:/x 3 ) ) ) "},
        {{.kind = EDIT_DELETE, .path = S("a"), .rev = 4, .parent = 2},
         "( delete-entry ( 1:a ( 4 ) 2:d2 ) ) "},
        {{.kind = EDIT_FILE_PROP, .node = 3, .name = S("p"), .value = S("v")},
         "( change-file-prop ( 2:c3 1:p ( 1:v ) ) ) "},
        {{.kind = EDIT_DIR_PROP, .node = 3, .name = S("p")},
         "( change-dir-prop ( 2:d3 1:p ( ) ) ) "},
        {{.kind = EDIT_TEXT_CHUNK, .node = 3, .text = S("SVN\1")},
         "( textdelta-chunk ( 2:c3 4:SVN\1 ) ) "},
        {{.kind = EDIT_CLOSE_FILE, .node = 3}, "( close-file ( 2:c3 ( ) ) ) "},
        {{.kind = EDIT_ABSENT_DIR, .path = S("z"), .parent = 1}, "( absent-dir ( 1:z 2:d1 ) ) "},
        {{.kind = EDIT_CLOSE_EDIT}, "( close-edit ( ) ) "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fds[2];
        char space[256];
        assert_int_equal(pipe(fds), 0);
        struct conn *conn = conn_new(fds[1], fds[1], &svn_conn_codes);
        assert_ok(edit_encode(conn, &cases[i].event));
        assert_ok(conn_flush(conn));
        ssize_t got = read(fds[0], space, sizeof space);
        assert_str_eq(str_make(space, (size_t)got), str_of(cases[i].text));
        conn_free(conn);
        close(fds[0]);
        close(fds[1]);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(tokens_are_opaque_and_become_numbers),
        T(tokens_of_what_is_closed_are_refused),
        T(tokens_that_nobody_opened_are_refused),
        T(files_are_no_folders),
        T(a_token_may_be_used_again),
        T(a_copy_source_is_a_url_of_this_repository),
        T(a_copy_source_of_another_repository_is_told_as_it_is),
        T(a_dotted_name_is_one_like_others),
        T(what_is_no_editor_command_is_named),
        T(missing_and_wrong_fields_are_malformed),
        T(events_are_written_as_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
