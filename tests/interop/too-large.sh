#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What could not be read again is not stored: property lists, of nodes and revisions, and lists of
# entries above 256 MiB. What stock tools have stored is read even so.
set -u
. "$(dirname "$0")/helpers/lib.sh"
mkdir "$T/varve"
create "$VARVE" 8 "$T/varve/repos"
ROOT=$T/varve start varve "$VARVE" serve
check "a server is asked for too much" python3 "$HERE/too_large.py" ask "$PORT_varve"
cat >"$T/wanted" <<'END'
properties: The property list of '/' is larger than 268435456 bytes
entries: The list of entries of '/' is larger than 268435456 bytes
revision property 19: The property list of revision 0 is larger than 268435456 bytes
END
same "it refuses" "$T/check.out" "$T/wanted"
is "nothing is committed" "$(youngest "$T/varve/repos")" 0
check "all that is there can be read" "$VARVE" verify -q "$T/varve/repos"

python3 "$HERE/too_large.py" stream >"$T/stream"
create svnadmin 8 "$T/loaded"
check_fails "a load of too much" "$VARVE" load -q "$T/loaded" -F "$T/stream"
is "it says what" "$(grep -o "E165002: The property list of '/d' is larger.*" "$T/check.out")" \
    "E165002: The property list of '/d' is larger than 268435456 bytes"
is "it loads nothing" "$(youngest "$T/loaded")" 0
check "svnadmin loads it" svnadmin load -q "$T/loaded" -F "$T/stream"
check "that is read" "$VARVE" dump -q -F "$T/varve.dump" "$T/loaded"
same "as stock's dump has it" "$T/varve.dump" <(svnadmin dump -q "$T/loaded")
done_testing
