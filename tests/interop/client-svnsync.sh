#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# svnsync with the server as the source and as the mirror: init, sync, copy-revprops, info; mirrors of
# a part, mirrors that fell behind or went astray.
set -u
. "$(dirname "$0")/helpers/client-lib.sh"
command -v svnsync >/dev/null || skip_all "svnsync is not installed"
serve_both 8 --brief

svnsync() { command svnsync --config-dir "$T/config" --non-interactive "$@"; }

mirror() { twin "$T/$SIDE/$1" "${2:-}"; } # mirror NAME [FORMAT]: an empty repository beside the source

beside() { echo "${URL%/repos}/$1"; } # the URL of a mirror

# The first 20 revisions, to be mirrored often.
for SIDE in stock varve; do
    mirror young && svnadmin dump -q -r 0:20 "$T/$SIDE/repos" >"$T/young.dump" && load svnadmin "$T/$SIDE/young" "$T/young.dump"
done

# What a mirror holds, and its own notes about where it stands.
holds() { svnadmin dump -q "$T/$SIDE/$1" | plain_dump | md5sum && notes "$1"; }
plain_dump() { # the length of the source's URL goes with the port's
    sed -E -e 's#svn://127\.0\.0\.1:[0-9]+#svn://SERVER#g; s#file://[^ ]*/(stock|varve)/#file://DIR/#g' \
        -e '1,40{/^(V|Prop-content-length:|Content-length:) [0-9]+$/d}' -e 's/^20[2-9][0-9]-[0-9T:.-]+Z$/NOW/'
}
notes() { svn proplist --revprop -v -r 0 "file://$T/$SIDE/$1" | grep -v svn:date; svnlook youngest "$T/$SIDE/$1"; }

# ---- both roles ----------------------------------------------------------------------------

source_of_everything() {
    mirror of-all 6
    svnsync init "file://$T/$SIDE/of-all" "$URL" && svnsync sync "file://$T/$SIDE/of-all" | grep -c Committed
    holds of-all
}
both "the server is the source" source_of_everything

mirror_of_everything() { # of the file system itself, and from the server onto the server
    mirror all && svnsync init "$(beside all)" "file://$REPOS" && svnsync sync -q "$(beside all)" && holds all
    svnsync info "$(beside all)" && svnsync sync "$(beside all)"
    svnadmin verify -q "$T/$SIDE/all"
}
both "the server is the mirror" mirror_of_everything

formats() { # the mirror's formats, and the source's
    local format
    for format in 1 4 7; do
        mirror old-$format $format && svnsync init -q "$(beside old-$format)" "$(beside young)" &&
            svnsync sync -q "$(beside old-$format)" && holds old-$format
    done
}
both "source and mirror at once, in other formats" formats

same_as_source() {
    for name in of-all all; do
        local repos=$T/varve/$name
        svnadmin dump -q -r 1:HEAD "$repos" | grep -a -v '^UUID:' | cmp - <(svnadmin dump -q -r 1:HEAD "$T/varve/repos" | grep -a -v '^UUID:') || return 1
    done
}
check "mirrors hold what the source holds" same_as_source

# ---- the mirror's notes -------------------------------------------------------------------------

init_errors() {
    mirror locked && rm "$T/$SIDE/locked/hooks/pre-revprop-change"
    svnsync init "$(beside locked)" "$(beside young)"
    svnsync sync "$(beside locked)"; svnsync info "$(beside locked)"; svnsync copy-revprops "$(beside locked)"
    svnsync init "$(beside all)" "$(beside young)"; svnsync init "$(beside all)/trunk" "$(beside young)"
    svnsync init "$(beside nowhere)" "$(beside young)"; mirror spare && svnsync init "$(beside spare)" "$(beside nowhere)"
    svnsync init "$(beside spare)" "$(beside young)/trunk/nope"; svnsync info "$(beside spare)"
    svnsync init --source-username eve "$(beside spare)" "$(beside young)" && svnsync info "$(beside spare)"
}
both "init that cannot be, and before init" init_errors

revision_properties() {
    svn propset -q --revprop -r 5 svn:log "Another message, with größe" "$(beside young)"
    svn propset -q --revprop -r 6 extra "$(printf 'two\nlines')" "$(beside young)"; svn propdel -q --revprop -r 7 svn:author "$(beside young)"
    mirror props && svnsync init -q "$(beside props)" "$(beside young)" && svnsync sync -q "$(beside props)"
    svn propset -q --revprop -r 8 svn:log "Changed at the source" "$(beside young)"; svn propdel -q --revprop -r 6 extra "$(beside young)"
    svnsync copy-revprops "$(beside props)" 4 9; svn proplist --revprop -v -r 8 "$(beside props)"
    svn propset -q --revprop -r 3 custom x "$(beside props)"
    svnsync copy-revprops -r 2:4 "$(beside props)"; svnsync copy-revprops -r 9:4 "$(beside props)"
    svnsync copy-revprops -r 5:HEAD "$(beside props)" | tail -n 1; svnsync copy-revprops "$(beside props)" | wc -l
    svnsync copy-revprops -r 1:9999 "$(beside props)"; svnsync copy-revprops "$(beside props)" "$(beside young)" | tail -n 1
    holds props
}
both "copy-revprops" revision_properties

# ---- parts, and mirrors behind and ahead ---------------------------------------------------------------

parts() {
    local part
    for part in trunk/src branches/two trunk/README; do
        mirror "${part//\//-}" && svnsync init "$(beside "${part//\//-}")" "$(beside young)/$part"
        svnsync sync "$(beside "${part//\//-}")" | sort | uniq -c | sort | tail -n 3; holds "${part//\//-}"
    done
}
both "mirrors of a folder" parts

ahead_and_behind() {
    mirror follows && svnsync init -q "$(beside follows)" "$(beside young)" && svnsync sync -q "$(beside follows)"
    svn mkdir -q -m "the source goes on" "$(beside young)/more" && svn rm -q -m "and on" "$(beside young)/more"
    svnsync sync "$(beside follows)" && svnsync sync "$(beside follows)"
    svn mkdir -q -m "the mirror goes astray" "$(beside follows)/astray" && svn mkdir -q -m "and the source" "$(beside young)/further"
    svnsync sync "$(beside follows)"; svnsync sync "$(beside follows)" "$(beside all)"; notes follows
    svn rm -q -m "as it was" "$(beside young)/further"
}
both "the source goes on, the mirror goes astray" ahead_and_behind

same_history "after all"
done_testing
