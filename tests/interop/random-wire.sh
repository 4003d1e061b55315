#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of protocol commands drawn from fixed seeds are answered the same by both servers.
# Others: tests/interop/random_wire --count N.
set -u
. "$(dirname "$0")/helpers/lib.sh"

mkdir "$T/different"
check "stock answers itself the same" "$HERE/../random_wire" --self-test --seed itself --count 40 --jobs 2 --output "$T/different"
done_testing
