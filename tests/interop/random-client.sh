#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sequences of working-copy commands drawn from fixed seeds say and do the same with both servers.
# Others: tests/interop/random_client --count N.
set -u
. "$(dirname "$0")/helpers/lib.sh"

mkdir "$T/different"
check "stock answers itself the same" "$HERE/../random_client" --self-test --seed self --count 8 --output "$T/different"
check "sequences of commands, varve and stock" \
    "$HERE/../random_client" --seed check --count 130 --jobs 2 --output "$T/different"
for script in "$T"/different/*.sh; do [ ! -f "$script" ] || sed 's/^/# /' "$script"; done
done_testing
