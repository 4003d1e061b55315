/* SPDX-License-Identifier: Apache-2.0 */
#include "svn/edit_wire.h"

#include "base/num.h"
#include "base/path.h"

enum { TOKEN_MAX = 64 }; /* clients' tokens are a letter and a number; all of them are kept */

/* Fields, in the order of the wire:
 *   p path   P token of the parent   N token of what is opened   n token of what is open
 *   R revision   r [revision]   c [copy-path copy-revision]   k name   v [value]   t svndiff bytes
 * m [md5] */
static const struct {
    struct str word;
    const char *fields;
} commands[EDIT_KINDS] = {
    [EDIT_TARGET_REV] = {S("target-rev"), "R"},
    [EDIT_OPEN_ROOT] = {S("open-root"), "rN"},
    [EDIT_DELETE] = {S("delete-entry"), "prP"},
    [EDIT_ADD_DIR] = {S("add-dir"), "pPNc"},
    [EDIT_OPEN_DIR] = {S("open-dir"), "pPNr"},
    [EDIT_DIR_PROP] = {S("change-dir-prop"), "nkv"},
    [EDIT_CLOSE_DIR] = {S("close-dir"), "n"},
    [EDIT_ABSENT_DIR] = {S("absent-dir"), "pP"},
    [EDIT_ADD_FILE] = {S("add-file"), "pPNc"},
    [EDIT_OPEN_FILE] = {S("open-file"), "pPNr"},
    [EDIT_FILE_PROP] = {S("change-file-prop"), "nkv"},
    [EDIT_TEXT_BEGIN] = {S("apply-textdelta"), "nm"},
    [EDIT_TEXT_CHUNK] = {S("textdelta-chunk"), "nt"},
    [EDIT_TEXT_END] = {S("textdelta-end"), "n"},
    [EDIT_CLOSE_FILE] = {S("close-file"), "nm"},
    [EDIT_ABSENT_FILE] = {S("absent-file"), "pP"},
    [EDIT_CLOSE_EDIT] = {S("close-edit"), ""},
    [EDIT_ABORT_EDIT] = {S("abort-edit"), ""},
    [EDIT_FINISH_REPLAY] = {S("finish-replay"), ""},
};

/* ---- encoding ---- */

static bool names_file(enum edit_kind kind)
{
    switch (kind) {
    case EDIT_ADD_FILE:
    case EDIT_OPEN_FILE:
    case EDIT_FILE_PROP:
    case EDIT_TEXT_BEGIN:
    case EDIT_TEXT_CHUNK:
    case EDIT_TEXT_END:
    case EDIT_CLOSE_FILE:
        return true;
    default:
        return false;
    }
}

static struct err *encode_token(struct conn *conn, char letter, uint64_t number)
{
    char token[1 + NUM_U64_MAX] = {letter};
    return wire_str(conn, str_make(token, 1 + num_to_dec(token + 1, number)));
}

static struct err *encode_copy(struct conn *conn, const struct edit_event *event)
{
    TRY(wire_open(conn));
    if (event->copy_path.p) {
        TRY(wire_str(conn, event->copy_path));
        TRY(wire_number(conn, (uint64_t)event->copy_rev));
    }
    return wire_close(conn);
}

static struct err *encode_field(struct conn *conn, char field, const struct edit_event *event)
{
    switch (field) {
    case 'p':
        return wire_str(conn, event->path);
    case 'P':
        return encode_token(conn, 'd', event->parent);
    case 'N':
    case 'n':
        return encode_token(conn, names_file(event->kind) ? 'c' : 'd', event->node);
    case 'R':
        return wire_number(conn, (uint64_t)event->rev);
    case 'r':
        return wire_opt_rev(conn, event->rev);
    case 'c':
        return encode_copy(conn, event);
    case 'k':
        return wire_str(conn, event->name);
    case 'v':
        return wire_opt_str(conn, event->value);
    case 't':
        return wire_str(conn, event->text);
    default:
        return wire_opt_str(conn, event->md5);
    }
}

struct err *edit_encode(struct conn *conn, const struct edit_event *event)
{
    TRY(wire_open(conn));
    TRY(wire_word(conn, commands[event->kind].word));
    TRY(wire_open(conn));
    for (const char *field = commands[event->kind].fields; *field; field++)
        TRY(encode_field(conn, *field, event));
    return wire_raw(conn, S(") ) "));
}

/* ---- decoding ---- */

void edit_decoder_init(struct edit_decoder *decoder, struct str root_url)
{
    *decoder = (struct edit_decoder){.nodes = map_new(), .root_url = root_url};
}

void edit_decoder_free(struct edit_decoder *decoder)
{
    map_free(decoder->nodes, NULL);
}

/* What the map holds for a node: never 0. */
static uintptr_t mark_of(uint64_t number, bool is_file)
{
    return (uintptr_t)((number + 1) << 1 | is_file);
}

static struct err *find_token(uint64_t *number, const struct edit_decoder *decoder,
                              struct str token, bool is_file)
{
    uintptr_t found = (uintptr_t)map_get(decoder->nodes, token);
    if (!found)
        return err_make(E_RA_SVN_MALFORMED_DATA, "Editor command for '%.*s', which is not open",
                        STR(token));
    if ((found & 1) != is_file)
        return err_make(E_RA_SVN_MALFORMED_DATA, "Editor command for '%.*s', which is a %s",
                        STR(token), is_file ? "folder" : "file");
    *number = (found >> 1) - 1;
    return NULL;
}

static bool closes(enum edit_kind kind)
{
    return kind == EDIT_CLOSE_DIR || kind == EDIT_CLOSE_FILE;
}

static uint64_t new_token(struct edit_decoder *decoder, struct str token, bool is_file)
{
    uint64_t number = decoder->next++;
    map_put(decoder->nodes, token, (void *)mark_of(number, is_file));
    return number;
}

/* A copy source should be a URL in this repository; that it is not is for the commit to tell. */
static struct err *decode_copy(struct edit_event *event, const struct edit_decoder *decoder,
                               struct wire_args *args, struct arena *arena)
{
    struct wire_args copy = wire_take_list(args);
    if (copy.malformed || wire_args_end(&copy)) {
        args->malformed |= copy.malformed;
        return NULL;
    }
    struct str url = wire_take_str(&copy), decoded, rest = S("");
    event->copy_rev = wire_take_rev(&copy);
    args->malformed |= copy.malformed;
    if (args->malformed)
        return NULL;
    if (!path_uri_decode(&decoded, url, arena) ||
        !path_skip_ancestor(&rest, decoder->root_url, decoded))
        event->copy_url = url;
    event->copy_path = path_canonicalize(rest, arena);
    return path_check_nul(event->copy_path);
}

static struct err *decode_field(struct edit_event *event, struct str *opened, char field,
                                struct edit_decoder *decoder, struct wire_args *args,
                                struct arena *arena)
{
    struct str text;
    switch (field) {
    case 'p':
        event->path = str_skip(path_canonicalize(wire_take_str(args), arena), 1);
        return path_check_nul(event->path);
    case 'P':
    case 'n':
        text = wire_take_str(args);
        if (args->malformed)
            return NULL;
        return field == 'P' ? find_token(&event->parent, decoder, text, false)
                            : find_token(&event->node, decoder, text, names_file(event->kind));
    case 'N':
        *opened = wire_take_str(args);
        return opened->n <= TOKEN_MAX ? NULL
                                      : err_make(E_RA_SVN_MALFORMED_DATA,
                                                 "A token of %zu bytes is too long", opened->n);
    case 'R':
        event->rev = wire_take_rev(args);
        return NULL;
    case 'r':
        event->rev = wire_take_opt_rev(args);
        return NULL;
    case 'c':
        return decode_copy(event, decoder, args, arena);
    case 'k':
        event->name = wire_take_str(args);
        return NULL;
    case 'v':
        event->value = wire_take_opt_str(args);
        return NULL;
    case 't':
        event->text = wire_take_str(args);
        return NULL;
    default:
        event->md5 = wire_take_opt_str(args);
        return NULL;
    }
}

static struct err *find_command(enum edit_kind *kind, struct str command)
{
    for (int k = 0; k < EDIT_KINDS; k++) {
        if (str_eq(commands[k].word, command)) {
            *kind = (enum edit_kind)k;
            return NULL;
        }
    }
    return err_make(E_RA_SVN_UNKNOWN_CMD, "Unknown editor command '%.*s'", STR(command));
}

struct err *edit_decode(struct edit_event *event, struct edit_decoder *decoder, struct str command,
                        const struct wire_item *params, struct arena *arena)
{
    *event = (struct edit_event){.rev = REV_NONE, .copy_rev = REV_NONE};
    TRY(find_command(&event->kind, command));
    struct wire_args args = wire_args_of(params);
    struct str opened = {0};
    for (const char *field = commands[event->kind].fields; *field; field++)
        TRY(decode_field(event, &opened, *field, decoder, &args, arena));
    TRY(wire_args_check(&args));
    if (opened.p)
        event->node = new_token(decoder, opened, names_file(event->kind));
    if (closes(event->kind))
        map_remove(decoder->nodes, args.items[0].text);
    return NULL;
}
