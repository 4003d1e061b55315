/* SPDX-License-Identifier: Apache-2.0 */
/* authz_answers.c - answers many questions about rule files
 * (tests/interop/helpers/authz_questions.py), as many processes of svnauthz would one by one.
 * Standard input:
 *
 *     rules BYTES LF the file LF          a rule file, until the next one
 *     groups BYTES LF the file LF         in front of it: its file of global groups
 *     ask TAB user TAB path TAB repository TAB flags LF
 *
 * A user "-" is nobody, a path "-" asks for the most that is had anywhere; flags: "R" recursive.
 * Each question gets a line "rw", "r" or "no"; a rule file with mistakes one line with the errors,
 * and none for the questions about it. */
#include "base/buf.h"
#include "base/cache.h"
#include "base/shared.h"
#include "repo/access/authz.h"
#include <stdio.h>
#include <stdlib.h>

static struct str take_file(const char *line, size_t skip)
{
    size_t n = strtoul(line + skip, NULL, 10);
    char *text = mem_alloc(n + 1);
    if (fread(text, 1, n + 1, stdin) != n + 1)
        abort();
    return str_make(text, n);
}

static void print_error(const struct err *err)
{
    for (; err; err = err->cause)
        printf("E%06d: %s%s", err->code, err->text, err->cause ? "|" : "\n");
}

static struct str take_field(struct str *rest)
{
    size_t tab = str_find(*rest, '\t');
    struct str field = str_make(rest->p, tab == SIZE_MAX ? rest->n : tab);
    *rest = str_skip(*rest, field.n + 1);
    return field;
}

static void answer(struct authz *authz, struct str rest)
{
    struct str user = take_field(&rest), path = take_field(&rest), repository = take_field(&rest);
    if (str_eq(user, S("-")))
        user = (struct str){0};
    AUTO_ARENA(arena);
    const struct authz_view *view = authz_view(authz, repository, user, arena);
    int rights = str_eq(path, S("-")) ? authz_view_any(view)
                                      : authz_view_rights(view, path, str_eq(rest, S("R")));
    puts(rights & ACCESS_WRITE ? "rw" : rights & ACCESS_READ ? "r" : "no");
    /* What is had everywhere is had here. */
    int everywhere = authz_view_everywhere(view);
    if ((everywhere & rights) != everywhere)
        printf("but %d everywhere\n", everywhere);
}

int main(void)
{
    struct authz *authz = NULL;
    struct str groups = {0};
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        struct str text = str_make(line, (size_t)n - 1);
        if (str_starts(text, S("groups "))) {
            groups = take_file(line, 7);
        } else if (str_starts(text, S("rules "))) {
            struct str rules = take_file(line, 6);
            shared_unref(authz);
            authz = NULL;
            struct err *err = authz_parse(&authz, rules, groups.p ? &groups : NULL);
            print_error(err);
            err_free(err);
            free((void *)rules.p);
            free((void *)groups.p);
            groups = (struct str){0};
        } else if (authz) {
            answer(authz, str_skip(text, 4));
        }
    }
    shared_unref(authz);
    free(line);
    cache_clear();
    return 0;
}
