/* SPDX-License-Identifier: Apache-2.0 */
/* session_int.h - what the commands of a session share. */
#ifndef VARVE_SVN_SESSION_INT_H
#define VARVE_SVN_SESSION_INT_H

#include "repo/access/authz.h"
#include "repo/admin/server_config.h"
#include "repo/tree/list.h"
#include "svn/session.h"
#include "svn/wire.h"

enum client_capability {
    CAP_EDIT_PIPELINE = 1,
    CAP_SVNDIFF1 = 2,
    CAP_SVNDIFF2 = 4,
    CAP_ABSENT_ENTRIES = 8,
    CAP_DEPTH = 16,
    CAP_MERGEINFO = 32,
    CAP_LOG_REVPROPS = 64,
};

struct session {
    const struct client *client;
    const struct service *service; /* the client's */
    struct conn *conn;
    struct arena *arena;      /* lives as long as the session */
    struct arena *request;    /* rewound after each command */
    struct account *account;  /* of the request, and of all that has no account of its own */
    struct repo *shared_repo; /* of all sessions; NULL before it is open */
    struct repo own_repo;     /* the same with this session's settings */
    struct repo *repo;        /* that */
    struct fsfs *fs;
    struct server_config config;
    bool is_open;          /* the client has logged in */
    bool is_idle;          /* waits for a command: the client may leave without a word */
    bool in_exchange;      /* the client waits for a word on who it is */
    unsigned caps;         /* of the client */
    int svndiff_version;   /* the most to send */
    struct str repo_name;  /* for the log */
    struct str authz_name; /* the repository's, in rules */
    struct str root_url;   /* as the client spells it, encoded, without trailing slash */
    struct str root_url_decoded;
    struct str path;                /* of the session in the repository, absolute */
    struct buf moved_to;            /* holds it once the client has moved */
    struct principal who;           /* logs what is denied */
    const struct principal *reader; /* that, or NULL where nothing is hidden */
};

/* ---- helpers (session.c) ---- */

/* From now on USER (p NULL: nobody in particular) is there, with the rights that the rules give. */
void session_set_user(struct session *s, struct str user);

/* True for an error after which the connection is of no use. */
bool is_fatal(const struct err *err);
/* RELATIVE (of the session URL) as an absolute path in the repository, checked. */
struct err *session_path(struct str *out, const struct session *s, struct str relative);
/* A URL of this repository as an absolute path: E_RA_ILLEGAL_URL "'U' is not the same repository as
 * 'R'". */
struct err *session_url_path(struct str *out, const struct session *s, struct str url);
/* REV, or the youngest for REV_NONE. */
struct err *session_rev(revnum *rev, const struct session *s);
/* One line of the access log: what is being done. */
void session_log(const struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What a user may not do; of those without a name nothing is told. An empty PATH is left out. */
void session_log_denied(const struct session *s, struct str path, int right, bool recursive);
void session_log_err(const struct session *s, const struct err *err);
/* What the client is told where ERR stands in the way: another error where the repository was
 * replaced, which explains what is not found or seems to be damaged. ERR is logged where that is
 * usual: not for what is wrong with the client's question only. */
struct err *session_fault(const struct session *s, struct err *err);
/* Words for the log, each behind a space, encoded. */
struct str log_words(const struct session *s, const struct str *words, size_t n);
/* A path in the form of the log: URI-encoded. */
struct str log_path(const struct session *s, struct str path);
/* End a stream of items: "done ", and the failure where ERR says so (ERR is freed), else success.
 */
struct err *finish_stream(struct session *s, struct err *err);
/* " depth=files": what the log says of a depth; empty where the client left it open. */
struct str log_depth(const struct session *s, enum depth depth);

/* ---- commands ---- */

typedef struct err *command_fn(struct session *s, struct wire_args *args);

/* cmd_node.c */
command_fn cmd_get_file, cmd_get_dir, cmd_check_path, cmd_stat, cmd_list, cmd_get_iprops,
    cmd_get_mergeinfo;
/* cmd_history.c */
command_fn cmd_get_latest_rev, cmd_get_dated_rev, cmd_get_deleted_rev, cmd_get_locations,
    cmd_get_location_segments, cmd_get_file_revs;
/* cmd_log.c */
command_fn cmd_log;
/* cmd_report.c */
command_fn cmd_update, cmd_switch, cmd_status, cmd_diff;
/* cmd_replay.c */
command_fn cmd_replay, cmd_replay_range;
/* cmd_commit.c */
command_fn cmd_commit;
/* cmd_revprop.c */
command_fn cmd_rev_proplist, cmd_rev_prop, cmd_change_rev_prop, cmd_change_rev_prop2;
/* cmd_lock.c */
command_fn cmd_lock, cmd_lock_many, cmd_unlock, cmd_unlock_many, cmd_get_lock, cmd_get_locks;
/* session.c */
command_fn cmd_reparent;

#endif
