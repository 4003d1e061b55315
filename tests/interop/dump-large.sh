#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Revisions that are larger than what a dump holds back of those whose turn has not come.
set -u
. "$(dirname "$0")/helpers/lib.sh"

REPO=$T/large
svnadmin create "$REPO"
for i in $(seq 1 12); do
    head -c $((3000000 + i)) /dev/urandom >"$T/file"
    svnmucc -m "file $i" -U "file://$REPO" put "$T/file" "file$((i % 3))" >/dev/null
done
for options in "" "--deltas" "-r 3:11 --incremental"; do
    # shellcheck disable=SC2086
    svnadmin dump -q "$REPO" $options >"$T/wanted"
    # shellcheck disable=SC2086
    "$VARVE" dump -q "$REPO" $options >"$T/got"
    is "status of dump $options" $? 0
    same "dump $options" "$T/got" "$T/wanted"
done

timeout 60 "$VARVE" dump -q "$REPO" >/dev/full 2>"$T/err"
is "a full disk ends the dump" $? 1
check "it says so" grep -q "No space left on device" "$T/err"
timeout 60 "$VARVE" dump -q "$REPO" 2>"$T/err" | head -c 1000 >/dev/null
is "a reader that goes away ends the dump" "${PIPESTATUS[0]}" 1

# What comes before a damaged revision is still written.
printf 'xxxxxxxxxxxxxxxx' | dd of="$REPO/db/revs/0/7" bs=1 seek=1500000 conv=notrunc status=none
timeout 60 "$VARVE" dump -q "$REPO" >"$T/got" 2>"$T/err"
is "a damaged revision ends the dump" $? 1
svnadmin dump -q -r 0:6 "$REPO" >"$T/wanted"
head -c "$(stat -c %s "$T/wanted")" "$T/got" >"$T/begin"
same "what comes before it is there" "$T/begin" "$T/wanted"
done_testing
