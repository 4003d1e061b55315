/* SPDX-License-Identifier: Apache-2.0 */
#include "svn/edit_drive.h"

#include "svn/edit_wire.h"

/* How many events go out between two looks at whether the client objects. */
enum { LOOK_EVERY = 256 };

/* More errors in one answer than any client sends. */
enum { FAILURE_ERRORS_MAX = 32 };

/* The errors of a failure response, outermost first. */
static struct err *take_failure(struct wire_args *list)
{
    struct err *chain = NULL;
    for (int n = 0; n < FAILURE_ERRORS_MAX && !wire_args_end(list); n++) {
        struct wire_args one = wire_take_list(list);
        int code = (int)wire_take_number(&one);
        struct str text = wire_take_str(&one);
        struct err *malformed = wire_args_check(&one);
        if (malformed) {
            err_free(chain);
            return malformed;
        }
        chain = err_join(chain, err_make(code, "%.*s", STR(text)));
    }
    return chain ? chain : err_make(E_RA_SVN_EDIT_ABORTED, "The client ended the edit");
}

/* The client's one answer: ( success ( ) ) or ( failure ( ... ) ). A failure comes back as it is:
 * the client counts on being told its own error. */
static struct err *read_answer(struct session *s)
{
    struct str word;
    struct wire_item params;
    TRY(wire_read_command(&word, &params, s->conn, s->request));
    if (str_eq(word, S("success")))
        return NULL;
    struct wire_args list = wire_args_of(&params);
    return take_failure(&list);
}

/* Send events to the end of SOURCE, or until the client has something to say, which in the middle
 * of an edit can only be that it fails. */
static struct err *send_events(bool *interrupted, struct session *s, struct edit_source *source)
{
    *interrupted = false;
    for (unsigned sent = 1;; sent++) {
        struct edit_event event;
        bool more;
        TRY(source->next(&more, &event, source));
        if (!more)
            return NULL;
        bool absent = event.kind == EDIT_ABSENT_DIR || event.kind == EDIT_ABSENT_FILE;
        if (!absent || s->caps & CAP_ABSENT_ENTRIES) /* older clients do not know what that is */
            TRY(edit_encode(s->conn, &event));
        bool last = event.kind == EDIT_CLOSE_EDIT || event.kind == EDIT_FINISH_REPLAY;
        if (!last && sent % LOOK_EVERY == 0 && conn_input_pending(s->conn)) {
            *interrupted = true;
            return NULL;
        }
    }
}

static struct err *send_abort(struct session *s)
{
    struct edit_event event = {.kind = EDIT_ABORT_EDIT};
    return edit_encode(s->conn, &event);
}

/* Our own error ends the edit: the client answers to that. WHY is returned, unless the connection
 * breaks. */
struct err *edit_refuse(struct session *s, struct err *why)
{
    struct err *err = send_abort(s);
    if (!err)
        err = read_answer(s);
    if (is_fatal(err)) {
        err_free(why);
        return err;
    }
    err_free(err);
    return why;
}

/* A client that has failed waits for abort-edit, and does not answer it. */
static struct err *read_failure(struct session *s)
{
    struct err *told = read_answer(s);
    if (!told || is_fatal(told))
        return told;
    struct err *err = send_abort(s);
    if (err)
        err_free(told);
    return err ? err : told;
}

struct err *edit_drive(struct session *s, struct edit_source *source, bool answered)
{
    bool interrupted;
    struct err *err = send_events(&interrupted, s, source);
    source->close(source);
    if (is_fatal(err))
        return err;
    if (err)
        return edit_refuse(s, err);
    if (interrupted || answered)
        TRY(read_failure(s));
    if (interrupted)
        return err_make(E_RA_SVN_MALFORMED_DATA, "The client spoke in the middle of an edit");
    return answered ? wire_success_empty(s->conn) : NULL;
}
