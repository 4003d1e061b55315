#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Changed paths that contradict the tree, drawn at random, in formats 4 to 8, packed and not: verify and dump of such
# revisions are held against stock tools (random_damage.py).
set -u
. "$(dirname "$0")/helpers/lib.sh"
command -v svnfsfs >/dev/null || skip_all "svnfsfs is not installed"
mkdir "$T/damage"
for kind in twice removed moved action kind flag path "odd path" source more; do
    check "damaged lists: $kind" python3 "$HERE/random_damage.py" "$VARVE" "$T/damage" 3 60 0 "$kind"
done
done_testing
