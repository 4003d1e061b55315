#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A repository whose files and folders are missing, empty, junk, unreadable or something else: the
# server answers as svnserve does, by an unprivileged user. And what becomes of the rep-cache when it
# is removed or damaged under a running server.
set -u
. "$(dirname "$0")/helpers/lib.sh"

AS=()
if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || skip_all "root may read everything, and setpriv is not installed"
    AS=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod a+rx "$T"
fi
mkdir "$T/stock" "$T/varve" "$T/template"
template=$T/template/repo
create svnadmin 8 "$template"
svnmucc -m first mkdir "file://$template/trunk" put "$0" "file://$template/file" >/dev/null
svnmucc -m second put "$HERE/lib.sh" "file://$template/file" >/dev/null
printf '[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nauthz-db = authz\n' >"$template/conf/svnserve.conf"
printf '[users]\nuser = pass\n' >"$template/conf/passwd"
printf '[/]\n* = rw\n' >"$template/conf/authz"
printf '#!/bin/sh\nexit 0\n' >"$template/hooks/pre-commit"
chmod +x "$template/hooks/pre-commit"
chmod a+rwx "$T" "$T/stock" "$T/varve"
ROOT=$T/stock start stock "${AS[@]}" svnserve
ROOT=$T/varve start varve "${AS[@]}" "$VARVE" serve

python3 "$HERE/odd_surroundings.py" "$URL_stock" "$T/stock" "$URL_varve" "$T/varve" "$template" "$T/config" "$@" >"$T/differences"
check "the cases were all tried" grep -q '^[0-9]* cases$' "$T/differences"
is "a repository in odd surroundings is answered for as by svnserve" "$(grep -v ' cases$' "$T/differences" | head -n 20)" ""
check "the server is still there" kill -0 "$PID_varve"
stop varve

# ---- the rep-cache of a running server ----

repo=$T/varve/shared
create svnadmin 8 "$repo"
ROOT=$T/varve start varve "$VARVE" serve
: >"$T/varve.log"
put() { # put NAME FILE: a commit; its revision's size goes to $SIZE
    svnmucc -m "$1" put "$2" "$URL_varve/shared/$1" >/dev/null
    SIZE=$(stat -c %s "$repo/db/revs/0/$(youngest "$repo")")
}
shares() { # shares NAME FILE: of two commits of FILE, which is new, the second one has no text
    put "$1-1" "$2"; local first=$SIZE
    put "$1-2" "$2"
    [ "$first" -gt 20000 ] && [ "$SIZE" -lt 5000 ]
}
warnings() { grep -c 'WARN - 0 .*rep-cache.db' "$T/varve.log"; }
rows() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM rep_cache").fetchone()[0])' "$1" 2>/dev/null; }
has_rows() { [ "$(rows "$repo/db/rep-cache.db")" -ge 1 ]; }

for i in 1 2 3 4 5; do head -c 20000 /dev/urandom >"$T/text-$i"; done
check "texts are shared" shares a "$T/text-1"
check "  the rep-cache has rows" within 5 has_rows
rm "$repo/db/rep-cache.db"
check "a rep-cache that was removed is made anew" shares b "$T/text-2"
check "  it has rows" within 5 has_rows
is "  the log tells of it once" "$(warnings)" 1
cp "$T/text-5" "$repo/db/rep-cache.db"
for i in 1 2 3; do put "c-$i" "$T/text-3"; sleep 0.4; done
is "junk in its place is told of once" "$(warnings)" 2
same "  and left as it is" "$repo/db/rep-cache.db" "$T/text-5"
rm "$repo/db/rep-cache.db"
check "  when it is gone, texts are shared" shares d "$T/text-4"
check "  the new file has rows" within 5 has_rows
check "svnadmin verify passes" svnadmin verify -q "$repo"
done_testing
