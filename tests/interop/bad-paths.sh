#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Paths that are not UTF-8, or have "..": no way in takes them, the answers are those of stock's server; dump still
# writes the former, out of repositories that have them.
set -u
. "$(dirname "$0")/helpers/lib.sh"
for SIDE in stock varve; do
    mkdir "$T/$SIDE"
    twin "$T/$SIDE/repos"
    printf '[general]\nanon-access = none\npassword-db = passwd\nrealm = test\n' >"$T/$SIDE/repos/conf/svnserve.conf"
    printf '[users]\nu = secret\n' >"$T/$SIDE/repos/conf/passwd"
    svnmucc -m one mkdir d put /dev/null f -U "file://$T/$SIDE/repos" >/dev/null
done
start_stock "$T/stock"; start_varve "$T/varve"
check "stock answers" python3 "$HERE/bad_paths.py" "$PORT_stock"; cp "$T/check.out" "$T/stock.answers"
check "varve answers" python3 "$HERE/bad_paths.py" "$PORT_varve"; cp "$T/check.out" "$T/varve.answers"
same "paths that are not UTF-8, or have '..': the answers of a server" "$T/varve.answers" "$T/stock.answers"

# ---- streams, and repositories that have such paths ------------------------------------------
stream() { # stream PATH: a revision that adds it
    printf 'SVN-fs-dump-format-version: 2\n\nRevision-number: 1\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n'
    printf "Node-path: $1\nNode-kind: dir\nNode-action: add\nProp-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n"
}
for path in '\xe6x' '\xed\xa0\x80' '\xc0\x80' '\xf4\x90\x80\x80' 'a\x01b' '\xc3\xa4'; do
    stream "$path" >"$T/stream"
    for tool in svnadmin "$VARVE"; do
        create svnadmin 8 "$T/$(basename "$tool").loaded"
        "$tool" load -q "$T/$(basename "$tool").loaded" <"$T/stream" 2>&1 | perl -ne 's/\?\\(..)/chr hex $1/ge; print if s/^.*: (E\d+)/$1/' >"$T/$(basename "$tool").said"
        youngest "$T/$(basename "$tool").loaded" >>"$T/$(basename "$tool").said"
        rm -rf "$T/$(basename "$tool").loaded"
    done
    same "load of the path '$path'" "$T/$(basename "$VARVE").said" "$T/svnadmin.said"
done

create svnadmin 6 "$T/old" # without checksums of whole items
stream abc | svnadmin load -q "$T/old"
chmod u+w "$T/old/db/revs/0/1"
python3 - "$T/old/db/revs/0/1" <<'END'
import hashlib, re, sys
data = open(sys.argv[1], "rb").read()
old = re.search(rb"K 3\nabc\n.*?END\n", data, re.S).group()
new = old.replace(b"abc", b"a\xff\xe6")
data = data.replace(b"abc", b"a\xff\xe6")
for digest in hashlib.md5, hashlib.sha1:
    data = data.replace(digest(old).hexdigest().encode(), digest(new).hexdigest().encode())
open(sys.argv[1], "wb").write(data)
END
svnadmin dump -q "$T/old" >"$T/stock.dump" 2>"$T/stock.err"
check "an old repository has such a path: dump" "$VARVE" dump -q -F "$T/varve.dump" "$T/old"
same "the path is in the dump" "$T/varve.dump" "$T/stock.dump"
done_testing
