# SPDX-License-Identifier: Apache-2.0
# For tests of the stock client: the same commands against stock svnserve and varve serve, each
# on its own copy of one repository, must print the same and leave the same behind.
#
# A story is a function that is run once for each side in an empty directory, with $URL (the
# repository), $REPOS (its directory) and $SIDE set. Stories of one test follow each other on the
# same two repositories.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

serve_both() { # serve_both FORMAT [--brief | DUMP]: both servers on copies of the sample history, or of the dump file
    local history=${2:---small}
    case $history in -*) history=$(sample "$history") ;; esac
    mkdir "$T/stock" "$T/varve"
    create svnadmin "$1" "$T/stock/repos" 16
    load svnadmin "$T/stock/repos" "$history" || skip_all "stock cannot load the history"
    cp -a "$T/stock/repos" "$T/varve/repos"
    start_stock "$T/stock"
    start_varve "$T/varve"
    HEAD=$(youngest "$T/stock/repos")
}

with_passwords() { # with_passwords USER=PASSWORD...: everybody may read, these may write
    for SIDE in stock varve; do
        printf '[general]\nanon-access = read\nauth-access = write\npassword-db = passwd\nrealm = test\n' \
            >"$T/$SIDE/repos/conf/svnserve.conf"
        { echo '[users]'; printf '%s\n' "$@"; } >"$T/$SIDE/repos/conf/passwd"
    done
}

# Under AddressSanitizer: Cyrus's DIGEST-MD5 fetches a cipher for each connection and does not give
# it back. The slower stack traces show that it is its.
pardon_cyrus() {
    echo leak:libdigestmd5.so >"$T/leaks-of-others"
    export LSAN_OPTIONS=${LSAN_OPTIONS-}:suppressions=$T/leaks-of-others:print_suppressions=0
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:fast_unwind_on_malloc=0
}

# What may differ between two servers and two moments: ports, the time of new commits (the
# history's own dates are all outside 2020 to 2099), tokens, transactions' names, times of files in a
# working copy.
# And the order of XML attributes, which the client takes from the order in a seeded hash.
plain() {
    perl -0pe 's{<([\w-]+)((?:\s+[\w:-]+="[^"]*")+)(\s*/?)>}
                {"<$1 " . join(" ", sort $2 =~ /[\w:-]+="[^"]*"/g) . "$3>"}gex' | sed -E -e 's#svn://127\.0\.0\.1:[0-9]+#svn://SERVER#g' \
        -e "s#$T/(stock|varve)#DIR#g; s#/run-(stock|varve)/#/#g" \
        -e '/^Text Last Updated:|<text-updated>/d' \
        -e 's/20[2-9][0-9]-[0-9]{2}-[0-9]{2}([T ][0-9:.]+Z?( [+]0000)?( \([^)]*\))?)?/NOW/g' \
        -e "s/ [A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2} / TIME /; s/transaction '[0-9]+-[0-9a-z]+'/TXN/" \
        -e 's/opaquelocktoken:[-0-9a-f]{36}/TOKEN/g'
}

both() { tell "$1" "$2" cat; } # both NAME STORY

# The same where the client's or the server's order of lines is that of a hash.
both_in_any_order() { tell "$1" "$2" sort; }

tell() { # tell NAME STORY FILTER
    for SIDE in stock varve; do
        local url=URL_$SIDE
        URL=${!url}/repos REPOS=$T/$SIDE/repos
        rm -rf "$T/run-$SIDE" && mkdir "$T/run-$SIDE"
        (cd "$T/run-$SIDE" && "$2") >"$T/$SIDE.raw" 2>&1
        echo "exit $?" >>"$T/$SIDE.raw"
        { plain <"$T/$SIDE.raw" | "$3"; echo "-- left behind:"; tree "$T/run-$SIDE"; } >"$T/$SIDE.told"
    done
    same "$1" "$T/varve.told" "$T/stock.told"
    # A story in which every command fails proves nothing: the line counts must show life.
    [ "$(wc -l <"$T/stock.told")" -gt 3 ] || result 1 "$1: has something to tell"
}

wc_state() { # everything the working copy DIR knows
    svn status -v "$1"
    svn info -R "$1"
    svn proplist -v -R "$1"
}

same_history() { # same_history NAME: both repositories hold the same, but for dates and tokens
    for SIDE in stock varve; do
        check "$1: stock verifies $SIDE's repository" svnadmin verify -q "$T/$SIDE/repos"
        svnadmin dump -q "$T/$SIDE/repos" | sed -E 's/^20[2-9][0-9]-[0-9T:.-]+Z$/NOW/' >"$T/$SIDE.dump"
    done
    same "$1: the same history on both sides" "$T/varve.dump" "$T/stock.dump"
}
