#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dump streams drawn at random, loaded as svnadmin loads them (random_streams.py has the kinds).
set -u
. "$(dirname "$0")/helpers/lib.sh"

agree() { # agree KIND SEED COUNT
    mkdir "$T/$1"
    check "$3 streams, $1, seed $2" python3 "$HERE/random_streams.py" "$VARVE" "$T/$1" "$1" "$2" "$3"
}

agree altered 21 250
agree mergeinfo 22 150
done_testing
