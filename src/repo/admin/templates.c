/* SPDX-License-Identifier: Apache-2.0 */
#include "repo/admin/templates.h"

#include <stddef.h>

#define LOCK_NOTICE                                                                                \
    "Nothing reads this file's content. Subversion programs lock it while they need the\n"         \
    "repository for themselves, and old ones refuse to work without it. Leave it here.\n"

#define HOOK_HEAD(name, when, arguments)                                                           \
    "#!/bin/sh\n"                                                                                  \
    "# " name ": " when "\n"                                                                       \
    "#\n"                                                                                          \
    "# This is a sample. To use it, copy it to '" name "' in this folder, make it executable\n"    \
    "# (chmod +x), and change it to your needs. It runs without a shell's usual environment:\n"    \
    "# not even PATH is set, unless conf/hooks-env sets it.\n"                                     \
    "#\n"                                                                                          \
    "# Arguments:\n" arguments

#define REFUSES                                                                                    \
    "# Any exit status but 0 refuses; what is written to standard error is shown to the user.\n"

const struct template_file repo_templates[] = {
    {"README.txt", 0644,
     "This folder is a Subversion repository. Its files belong to the programs that serve it\n"
     "(varve, svnserve, svnadmin, svnlook ...): do not edit, add or remove any of them by hand\n"
     "except for those in conf/ and hooks/.\n"},

    {"conf/svnserve.conf", 0644,
     "# Who may do what over svn://. A line that starts with '#' is a comment; the commented\n"
     "# settings show their default or an example. Read afresh for each connection.\n"
     "\n"
     "[general]\n"
     "# What people without, and with, a user name may do: none, read or write.\n"
     "# anon-access = read\n"
     "# auth-access = write\n"
     "\n"
     "# The file with user names and passwords; relative to this file's folder.\n"
     "# password-db = passwd\n"
     "\n"
     "# The file with rights path by path, and one with groups for it.\n"
     "# authz-db = authz\n"
     "# groups-db = groups\n"
     "\n"
     "# Repositories with the same realm share the passwords that clients remember. Default:\n"
     "# the repository's UUID.\n"
     "# realm = My Repositories\n"
     "\n"
     "# Change user names to upper or lower case before rights are looked up.\n"
     "# force-username-case = none\n"
     "\n"
     "# The file with environment variables for hooks.\n"
     "# hooks-env = hooks-env\n"
     "\n"
     "[sasl]\n"
     "# Leave authentication to Cyrus SASL; password-db is ignored then.\n"
     "# use-sasl = true\n"
     "\n"
     "# The weakest and strongest encryption to agree on: 0 none, 1 checksums only, else bits.\n"
     "# min-encryption = 0\n"
     "# max-encryption = 256\n"},

    {"conf/passwd", 0644,
     "# Names and passwords for svn://, in plain text: make this file unreadable for others.\n"
     "# It counts only if svnserve.conf names it as password-db.\n"
     "\n"
     "[users]\n"
     "# alice = her password\n"
     "# bob = his password\n"},

    {"conf/authz", 0644,
     "# Rights path by path. They count only if svnserve.conf names this file as authz-db.\n"
     "#\n"
     "# A section [/path] or [repository:/path] has lines \"who = rights\": a user, a @group, an\n"
     "# &alias, $authenticated, $anonymous or * for everybody; rights are r, rw or nothing.\n"
     "# What a section says counts for everything below its path too.\n"
     "\n"
     "[aliases]\n"
     "# joe = /C=XZ/O=Example/CN=Joe\n"
     "\n"
     "[groups]\n"
     "# developers = alice,bob,&joe\n"
     "\n"
     "# [/]\n"
     "# @developers = rw\n"
     "# * = r\n"},

    {"conf/hooks-env.tmpl", 0644,
     "# Environment variables for hooks. Copy to 'hooks-env' to use it. The section [default] is\n"
     "# for all hooks that have no section of their own.\n"
     "\n"
     "[default]\n"
     "# PATH = /usr/local/bin:/usr/bin:/bin\n"
     "# LANG = C.UTF-8\n"
     "\n"
     "[pre-commit]\n"
     "# PATH = /opt/checks/bin:/usr/bin:/bin\n"},

    {"locks/db.lock", 0644, LOCK_NOTICE},
    {"locks/db-logs.lock", 0644, LOCK_NOTICE},

    {"hooks/start-commit.tmpl", 0755,
     HOOK_HEAD("start-commit", "a commit begins; its transaction has no changes yet.",
               "#   1  the repository's path\n"
               "#   2  the user's name, empty if there is none\n"
               "#   3  what the client can do, separated by colons (\"mergeinfo\")\n"
               "#   4  the transaction's name\n") REFUSES
     "\n"
     "case \"$2\" in\n"
     "    '') echo 'Commits need a user name.' >&2; exit 1 ;;\n"
     "esac\n"
     "exit 0\n"},

    {"hooks/pre-commit.tmpl", 0755,
     HOOK_HEAD("pre-commit", "a transaction is complete and about to become a revision.",
               "#   1  the repository's path\n"
               "#   2  the transaction's name, for svnlook -t\n"
               "# Standard input: the lock tokens that the user brought, if any.\n") REFUSES
     "# A pre-commit hook must not change the transaction.\n"
     "\n"
     "# A log message is needed.\n"
     "/usr/bin/svnlook log -t \"$2\" \"$1\" | /bin/grep -q '[a-zA-Z0-9]' && exit 0\n"
     "echo 'Please write a log message.' >&2\n"
     "exit 1\n"},

    {"hooks/post-commit.tmpl", 0755,
     HOOK_HEAD(
         "post-commit", "a revision has been made.",
         "#   1  the repository's path\n"
         "#   2  the new revision's number\n"
         "#   3  the name of the transaction that became it\n") "# The commit stands whatever "
                                                                "happens here; a failure is shown "
                                                                "as a warning.\n"
                                                                "\n"
                                                                "exec /usr/bin/logger -t svn \"$1: "
                                                                "revision $2\"\n"},

    {"hooks/pre-revprop-change.tmpl", 0755,
     HOOK_HEAD("pre-revprop-change", "a revision property is about to change.",
               "#   1  the repository's path\n"
               "#   2  the revision\n"
               "#   3  the user's name\n"
               "#   4  the property's name\n"
               "#   5  A (added), M (modified) or D (deleted)\n"
               "# Standard input: the new value.\n") REFUSES
     "# Old values are not kept. Without this hook no revision property can be changed.\n"
     "\n"
     "[ \"$5 $4\" = 'M svn:log' ] && exit 0\n"
     "echo 'Only log messages may be changed.' >&2\n"
     "exit 1\n"},

    {"hooks/post-revprop-change.tmpl", 0755,
     HOOK_HEAD("post-revprop-change", "a revision property has been changed.",
               "#   1  the repository's path\n"
               "#   2  the revision\n"
               "#   3  the user's name\n"
               "#   4  the property's name\n"
               "#   5  A (added), M (modified) or D (deleted)\n"
               "# Standard input: the old value.\n") "\n"
                                                     "exec /usr/bin/logger -t svn \"$1: $4 of "
                                                     "revision $2 changed by $3\"\n"},

    {"hooks/pre-lock.tmpl", 0755,
     HOOK_HEAD("pre-lock", "a path is about to be locked.",
               "#   1  the repository's path\n"
               "#   2  the path to be locked\n"
               "#   3  the user's name\n"
               "#   4  the lock's comment\n"
               "#   5  1 if a lock that is there may be stolen\n") REFUSES
     "# What is written to standard output becomes the lock's token: write nothing to have one "
     "made.\n"
     "\n"
     "[ \"$5\" = 0 ] && exit 0\n"
     "echo 'Locks are not stolen here.' >&2\n"
     "exit 1\n"},

    {"hooks/post-lock.tmpl", 0755,
     HOOK_HEAD("post-lock", "paths have been locked.",
               "#   1  the repository's path\n"
               "#   2  the user's name\n"
               "# Standard input: the paths, one a line.\n") "\n"
                                                             "exec /usr/bin/logger -t svn \"$1: "
                                                             "locks taken by $2\"\n"},

    {"hooks/pre-unlock.tmpl", 0755,
     HOOK_HEAD("pre-unlock", "a lock is about to be given back or broken.",
               "#   1  the repository's path\n"
               "#   2  the locked path\n"
               "#   3  the user's name\n"
               "#   4  the lock's token\n"
               "#   5  1 if somebody else's lock may be broken\n") REFUSES
     "\n"
     "[ \"$5\" = 0 ] && exit 0\n"
     "echo 'Locks are not broken here.' >&2\n"
     "exit 1\n"},

    {"hooks/post-unlock.tmpl", 0755,
     HOOK_HEAD("post-unlock", "locks have been given back or broken.",
               "#   1  the repository's path\n"
               "#   2  the user's name\n"
               "# Standard input: the paths, one a line.\n") "\n"
                                                             "exec /usr/bin/logger -t svn \"$1: "
                                                             "locks given back by $2\"\n"},

    {NULL, 0, NULL},
};
