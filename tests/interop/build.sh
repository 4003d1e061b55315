#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `meson setup` where what only the tests need is not installed.
set -u
. "$(dirname "$0")/helpers/lib.sh"
command -v meson >/dev/null || skip_all "meson is not installed"
pkg-config --exists cmocka || skip_all "cmocka is not installed"

# What pkg-config finds, without cmocka; CMake, which knows more places, is not asked.
printf "[binaries]\ncmake = '/nonexistent'\n" >"$T/native"
mkdir "$T/pc"
for folder in $(pkg-config --variable pc_path pkg-config | tr ':' ' '); do
    [ ! -d "$folder" ] || find "$folder" -name '*.pc' ! -name 'cmocka*' -exec ln -sf -t "$T/pc" {} +
done
setup() { # setup FOLDER [OPTION...]
    PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$T/pc meson setup --native-file "$T/native" "$HERE/../../.." "$@"
}
has_tests() { meson introspect --targets "$1" | grep -q '"name": "base-err-test"'; }

check "it succeeds without cmocka" setup "$T/plain"
has_tests "$T/plain"
is "unit tests are left out" $? 1
setup "$T/must" -Dtests=enabled >"$T/must.out" 2>&1
is "tests that are asked for are not left out silently: exit status" $? 1
grep -q 'ERROR.*cmocka' "$T/must.out"
result $? "it names what is missing"
check "it succeeds with cmocka" meson setup "$HERE/../../.." "$T/full"
check "unit tests are built then" has_tests "$T/full"
done_testing
