#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names and mergeinfo in several Unicode forms, drawn at random: verify --check-normalization warns where stock does, and
# histories in which changes cancel each other are well (random_names.py).
set -u
. "$(dirname "$0")/lib.sh"
mkdir "$T/names-of"
check "names in two forms" python3 "$HERE/random_names.py" "$VARVE" "$T/names-of" 7 60
done_testing
