#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names and mergeinfo in several Unicode forms, drawn at random: verify --check-normalization warns where stock does, and
# histories in which changes cancel each other are well (random_names.py).
set -u
. "$(dirname "$0")/helpers/lib.sh"
mkdir "$T/names-of"
for draw in "7 40" "8 10"; do # seed, histories
    # shellcheck disable=SC2086
    check "names in two forms: $draw" python3 "$HERE/random_names.py" "$VARVE" "$T/names-of" $draw
done
done_testing
