# SPDX-License-Identifier: Apache-2.0
# What the interop tests share: TAP output, a temporary directory, repositories of any format,
# servers on free ports, comparisons. Sourced by bash scripts after `set -u`.
#
# $VARVE is the program under test. $T is a temporary directory, gone at the end together with
# every server that start_* started. Tests end with done_testing.

export LC_ALL=C.UTF-8 TZ=UTC
unset SVN_EDITOR VISUAL EDITOR

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TESTS=0 FAILED=0 SERVERS=()

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

for tool in svn svnadmin svnserve svnlook svnmucc python3; do
    command -v "$tool" >/dev/null || skip_all "$tool is not installed"
done
: "${VARVE:?set VARVE to the varve program}"
VARVE=$(realpath -s "$VARVE")

T=$(mktemp -d "${TMPDIR:-/tmp}/varve-test.XXXXXX")
finish() {
    for pid in "${SERVERS[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
    rm -rf "$T"
}
trap finish EXIT
trap 'exit 1' INT TERM
mkdir "$T/config" "$T/names"
ln -s "$VARVE" "$T/names/svnadmin"
ln -s "$VARVE" "$T/names/svnserve"

# ---- TAP -------------------------------------------------------------------------------

result() { # result STATUS NAME: one TAP line
    TESTS=$((TESTS + 1))
    if [ "$1" = 0 ]; then echo "ok $TESTS - $2"; else
        FAILED=$((FAILED + 1)); echo "not ok $TESTS - $2"; fi
}

explain() { head -n 25 | cut -c 1-200 | sed 's/^/# /'; }

check() { # check NAME COMMAND...: the command succeeds
    local name=$1 status; shift
    "$@" >"$T/check.out" 2>&1; status=$?
    result $status "$name"
    [ $status = 0 ] || { echo "# exit $status: $*"; explain <"$T/check.out"; }
}

check_fails() { # check_fails NAME COMMAND...: it exits with 1 and says why
    local name=$1 status; shift
    "$@" >"$T/check.out" 2>&1; status=$?
    [ $status = 1 ] && grep -q 'E[0-9]\{6\}' "$T/check.out"
    result $? "$name"
    [ $status = 1 ] || { echo "# exit $status: $*"; explain <"$T/check.out"; }
}

same() { # same NAME FILE WANTED-FILE
    cmp -s "$2" "$3"; local status=$?
    result $status "$1"
    [ $status = 0 ] || diff -a -u --label wanted --label got "$3" "$2" | explain
}

is() { # is NAME GOT WANTED
    [ "$2" = "$3" ]; local status=$?
    result $status "$1"
    [ $status = 0 ] || { echo "# wanted: $3"; echo "# got:    $2"; } | cut -c 1-300
}

within() { # within SECONDS COMMAND...: it succeeds, at once or in so long
    local end=$((SECONDS + $1)); shift
    until "$@"; do
        [ $SECONDS -le $end ] || return 1
        sleep 0.05
    done
}

# A build under sanitizers takes more memory, and keeps what is freed for a while.
sanitized() { nm "$VARVE" 2>/dev/null | grep -q "__[at]san_init"; }

skip() { TESTS=$((TESTS + 1)); echo "ok $TESTS - $1 # SKIP $2"; }

done_testing() {
    echo "1..$TESTS"
    [ "$FAILED" = 0 ] || exit 1
    exit 0
}

# ---- repositories ------------------------------------------------------------------------

FORMATS="1 2 3 4 6 7 8"

compatible_version() {
    case $1 in 1) echo 1.1 ;; 2) echo 1.4 ;; 3) echo 1.5 ;; 4) echo 1.6 ;; 6) echo 1.8 ;; 7) echo 1.9 ;; 8) echo 1.10 ;; esac
}

create() { # create "COMMAND" FORMAT DIR [SHARD-SIZE]: COMMAND is svnadmin or "$VARVE"
    "$1" create --compatible-version "$(compatible_version "$2")" "$3" || return
    [ -z "${4:-}" ] || shard_size "$3" "$4"
    allow_everything "$3"
}

# twin DIR [FORMAT]: an empty repository with the UUID that all twins have, for two sides to be compared.
twin() { create svnadmin "${2:-8}" "$1" && svnadmin setuuid "$1" 3a5b2c1d-7e6f-4a8b-9c0d-1e2f3a4b5c6d; }

shard_size() { sed -i "s/^layout sharded .*/layout sharded $2/" "$1/db/format"; }

allow_everything() { # anonymous commits and revision property changes
    printf '[general]\nanon-access = write\n' >"$1/conf/svnserve.conf"
    printf '#!/bin/sh\nexit 0\n' >"$1/hooks/pre-revprop-change"
    chmod +x "$1/hooks/pre-revprop-change"
}

load() { "$1" load -q --no-flush-to-disk "$2" <"$3"; } # load COMMAND DIR FILE

youngest() { svnlook youngest "$1"; }

sample() { # sample [--small | --brief]: the path of the sample history, made once
    local file=$T/sample${1:-}.dump
    [ -f "$file" ] || "$HERE/sample-history" "$@" >"$file"
    echo "$file"
}

# ---- servers -------------------------------------------------------------------------------

accepts() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; } # accepts ADDRESS PORT: somebody listens there

# start NAME COMMAND...: start a server of $ROOT and wait until it accepts; sets PORT_<NAME>,
# PID_<NAME> and URL_<NAME>. Other programs may take a port first: try several.
start() {
    local name=$1 port pid try; shift
    for try in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 30000))
        "$@" -d --foreground -r "$ROOT" --listen-host 127.0.0.1 --listen-port $port \
            --pid-file "$T/$name.pid" --log-file "$T/$name.log" >"$T/$name.out" 2>&1 &
        pid=$!
        for _ in $(seq 1000); do
            kill -0 $pid 2>/dev/null || continue 2
            if accepts 127.0.0.1 $port; then
                SERVERS+=("$pid")
                printf -v "PORT_$name" %s $port
                printf -v "PID_$name" %s $pid
                printf -v "URL_$name" %s "svn://127.0.0.1:$port"
                return 0
            fi
            sleep 0.05
        done
        kill $pid
    done
    echo "Bail out! $name does not start: $(head -c 500 "$T/$name.out")"
    exit 1
}

start_stock() { ROOT=$1 start stock svnserve -T; }
# shellcheck disable=SC2086 # $SERVE_OPTIONS: of varve's own, for all servers of a test
start_varve() { ROOT=$1 start varve "$VARVE" serve ${SERVE_OPTIONS-} "${@:2}"; }

stop() { # stop NAME
    local pid=PID_$1
    kill "${!pid}" && wait "${!pid}" 2>/dev/null
}

ended() { ! kill -0 "$1" 2>/dev/null; } # ended PID

# What varve's server has.
descriptors() { ls -l "/proc/$PID_varve/fd" | grep -c -v "/db/revs/"; } # files of revisions are a cache
threads() { ls "/proc/$PID_varve/task" | wc -l; }
sockets() { ls -l "/proc/$PID_varve/fd" | grep -c socket:; }

# ---- clients ---------------------------------------------------------------------------------

svn() { command svn --config-dir "$T/config" --non-interactive "$@"; }
svnmucc() { command svnmucc --config-dir "$T/config" --non-interactive "$@"; }

tree() { # tree DIR: every path and the digest of every file in it, without administrative areas
    (cd "$1" && find . -name .svn -prune -o -type f -exec md5sum {} + -o -type l -printf 'link %p %l\n' \
        -o -type d -printf 'dir %p\n' | LC_ALL=C sort -k 2)
}
