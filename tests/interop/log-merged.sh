#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Logs with merged revisions of random histories whose mergeinfo names others, themselves and their own future:
# what stock's server answers, ours answers.
#
# usage: log-merged.sh [FIRST-SEED [COUNT [REVISIONS]]]
set -u
. "$(dirname "$0")/helpers/lib.sh"

mkdir "$T/root"
start_varve "$T/root"
# A process a connection; about some questions it thinks for ever.
ROOT=$T/root start stock bash -c 'ulimit -c 0 -t 1; exec svnserve "$@"' svnserve
FIRST=${1:-1} COUNT=${2:-20}
python3 "$HERE/random_mergeinfo.py" "$T/root" "$PORT_stock" "$PORT_varve" "$FIRST" "$COUNT" ${3:+"$3"} >"$T/differences"
result $? "all histories were asked about"
is "logs with merged revisions are those of svnserve" "$(grep -v '^[0-9]* questions' "$T/differences" | head -n 30)" ""
read -r questions entries strange endless < <(sed -n 's/^\([0-9]*\) questions, /\1 /; s/ [a-z, ]*/ /gp' "$T/differences" | tail -n 1)
echo "# $questions questions, $entries entries, $endless answers of stock without an end"
check "stock told merges" [ "${entries:-0}" -ge $((COUNT * 60)) ]
check "paths of others with an entry are mostly the same, too" [ "${entries:-0}" -ge $((${strange:-1} * 100)) ]
done_testing
