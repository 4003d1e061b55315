#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Damage of revision properties, packed or not: what makes a dump fail is found by verify (revprop_damage.py).
set -u
. "$(dirname "$0")/helpers/lib.sh"
for format in ${*:-4 6 7 8}; do
    repos=$T/f$format
    create svnadmin "$format" "$repos" 6
    [ "$format" = 4 ] || sed -i 's/^# *revprop-pack-size.*/revprop-pack-size = 1/; s/^\[packed-revprops\]/&\nrevprop-pack-size = 1/' "$repos/db/fsfs.conf"
    svnadmin load -q --no-flush-to-disk -r 0:14 "$repos" <"$(sample --small)"
    for rev in 6 7 9 10; do head -c 300 /dev/zero | tr '\0' l | svnadmin setlog --bypass-hooks "$repos" -r $rev /dev/stdin; done
    svnadmin pack -q "$repos"
    check "format $format" python3 "$HERE/revprop_damage.py" "$VARVE" "$repos"
    tail -1 "$T/check.out" | explain
done
done_testing
