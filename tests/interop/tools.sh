#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Under the name svnadmin the program answers as svnadmin does: lines, errors, exit status.
# Each command runs in one directory for stock and in an identical one for varve.
set -u
. "$(dirname "$0")/helpers/lib.sh"

mkdir "$T/stock" "$T/varve"
UUID=11111111-2222-4333-8444-555555555555
"$HERE/../../../bench/generate" --shape tiny >"$T/tiny.dump"
(
    cd "$T/stock" || exit
    svnadmin create repos && svnadmin load -q repos <"$T/tiny.dump"
    svnadmin create empty && svnadmin setuuid empty $UUID
    svnadmin create --compatible-version 1.5 old && svnadmin setuuid old $UUID
    mkdir directory && : >file
    cp -a empty broken && echo 99 >broken/db/format
    cp -a empty virgin
    cp -a empty under && svnmucc -m "a parent" mkdir "file://$PWD/under/below" >/dev/null
    cp -a . "$T/varve"
)

INPUT=/dev/null
alike() { # alike ARGUMENT...: svnadmin ARGUMENT... gives the same output, errors, exit status
    (cd "$T/stock" && svnadmin "$@" <"$INPUT" >"$T/stock.out" 2>"$T/stock.err"; echo "exit $?" >>"$T/stock.err")
    (cd "$T/varve" && "$T/names/svnadmin" "$@" <"$INPUT" >"$T/varve.out" 2>"$T/varve.err"; echo "exit $?" >>"$T/varve.err")
    sed -i "s#$T/\(stock\|varve\)/#DIR/#g; s#transaction '[0-9]*-[0-9a-z]*'#TXN#" "$T"/{stock,varve}.{out,err}
    same "svnadmin $*: output" "$T/varve.out" "$T/stock.out"
    same "svnadmin $*: errors and exit status" "$T/varve.err" "$T/stock.err"
}

# Usage errors
alike
alike foo
alike create
alike create a b
alike create --bogus x
alike create --fs-type nope n1
alike create --compatible-version 0.9 n2
alike create --compatible-version x n2
alike create --compatible-version 1.99 n9
alike create --compatible-version 1.99.0-dev n9
alike create --compatible-version 1.1.0-dev n9
for version in "1.8 " 1 1. . "" 1.8.3.4 1.8.x 1.8-dev 1.-8 -1.8 1.8.-1 1.8.0x 1.8.1-x.y 1.8.99999999999 1.4294967304; do
    alike create --compatible-version "$version" n9
done
for version in 1.4.0-dev 1.5.1-dev 1.6.0- 1.8.0-rc1 1.8.1-rc1 1.9.0-rc1 1.10.0-dev \
    1.10. " 1.8" "1. 8" 1.+8 +1.8 1.8. 1.08 1..8 .1.8..1. "1.8.+1" $'\t1.8' 1.8.0-x.; do
    for tool in stock varve; do
        command=svnadmin; [ $tool = stock ] || command=$T/names/svnadmin
        "$command" create --compatible-version "$version" "$T/$tool.version" >"$T/$tool.said" 2>&1
        cat "$T/$tool.version/db/format" >>"$T/$tool.said" 2>/dev/null
        rm -rf "$T/$tool.version"
    done
    same "create --compatible-version $version" "$T/varve.said" "$T/stock.said"
done
alike dump
alike dump repos extra
alike dump -r 5:2 repos
alike dump -r 999 repos
alike dump -r 3:999 repos
alike dump -r x repos
alike dump --parent-dir x repos
alike dump --include /a --exclude /b repos
alike load --incremental repos
alike load -r x repos
alike load -r 1 -r 2 repos
alike dump -r 1 -r x repos
alike dump -r x -r 1 repos
alike verify -r 1 --revision 2 repos
alike dump -q -r rHEAD repos
alike dump -q -r r3:rhEaD repos
alike dump -q -r "r{2020-01-01}" repos
alike verify -r 5:2 repos
alike verify -r 99 repos
alike verify -t 1-1 repos
for name in "" 1 ../../x 1-1-1 1.1; do alike verify -t "$name" repos; done
alike verify -M nonsense repos
alike info
alike info repos empty
alike setuuid empty nonsense
alike setuuid
alike --version -q

# Places that are no repository, or not one that can be read
for command in dump verify info load setuuid; do
    alike $command nope
    alike $command directory
    alike $command file
    alike $command broken
done
alike create repos
alike create repos/db/inside
alike create file
alike create nope/sub

# What works
alike create --compatible-version 1.8 made
alike create directory
alike setuuid made $UUID
alike info repos
alike info empty
alike info old
alike info made
alike info repos/db
alike dump repos
alike dump empty
alike dump -q repos -r 10:20 --incremental
alike dump --deltas -r HEAD repos
alike dump -r10:12 repos --incremental
alike dump -r '{2010-01-05}' repos -q
alike dump -F out.dump repos
same "dump -F writes the same file" "$T/varve/out.dump" "$T/stock/out.dump"
alike verify repos
alike verify -q repos
alike verify -r 3:9 repos
alike verify -r HEAD repos
alike verify --metadata-only repos
alike verify --check-normalization repos
alike verify --keep-going repos
alike verify -M 64 old

INPUT=$T/tiny.dump
alike load made
alike load -q empty
alike load -q -r r1:rr2 under
alike load --ignore-uuid old -M 32
alike load -r 0:3 --parent-dir nowhere old
alike dump empty
alike dump old -q
alike dump made -q
INPUT=/dev/null
alike load -F "$T/tiny.dump" made
alike load -F nope made
alike load made
alike load --parent-dir below --force-uuid -F "$T/tiny.dump" under
alike dump under -q
alike load --parent-dir /below/nope -F "$T/tiny.dump" under

# Properties that are not valid, and what is done about them
stream_with_log() { # stream_with_log LOG: of one revision, LOG being of 5 bytes
    printf 'SVN-fs-dump-format-version: 2\n\nUUID: %s\n\nRevision-number: 1\n' $UUID
    printf 'Prop-content-length: 32\nContent-length: 32\n\nK 7\nsvn:log\nV 5\n%b\nPROPS-END\n\n\n' "$1"
}
stream_with_log 'a\r\nbc' >"$T/crlf.dump"
stream_with_log 'a\0344\0366bc' >"$T/latin.dump"
for stream in crlf latin; do
    for option in "" --normalize-props --bypass-prop-validation; do
        for side in stock varve; do
            rm -rf "$T/$side/p" && cp -a "$T/$side/virgin" "$T/$side/p"
        done
        # shellcheck disable=SC2086
        alike load $option -F "$T/$stream.dump" p
        alike dump -q p
    done
done

# The names that varve itself has for them
is "varve youngest" "$("$VARVE" youngest "$T/stock/repos")" "$(svnlook youngest "$T/stock/repos")"
is "varve youngest --no-newline" "$("$VARVE" youngest --no-newline "$T/stock/repos" | od -c)" \
    "$(svnlook youngest --no-newline "$T/stock/repos" | od -c)"
is "varve uuid" "$("$VARVE" uuid "$T/stock/repos")" "$(svnlook uuid "$T/stock/repos")"
# Files that never got a text, not even an empty one: there are no checksums of theirs
empty_block() { printf 'Prop-content-length: 10\nContent-length: 10\n\nPROPS-END\n\n'; }
file_record() { printf 'Node-path: %s\nNode-kind: file\nNode-action: %s\n' "$1" "$2"; }
{
    printf 'SVN-fs-dump-format-version: 2\n\nUUID: %s\n\nRevision-number: 1\n' $UUID
    empty_block
    file_record a add
    printf '\n\nRevision-number: 2\n'
    empty_block
    file_record b add
    printf 'Node-copyfrom-rev: 1\nNode-copyfrom-path: a\n\n\n'
    file_record a change
    printf 'Text-content-length: 2\nContent-length: 2\n\nhi\n\n'
} >"$T/textless.dump"
for side in stock varve; do
    rm -rf "$T/$side/p" && cp -a "$T/$side/virgin" "$T/$side/p"
done
alike load -q -F "$T/textless.dump" p
alike dump -q p
alike dump -q --deltas p
done_testing
