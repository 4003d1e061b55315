/* SPDX-License-Identifier: Apache-2.0 */
/* verify_names.h - names that a person takes for one: the same text in different Unicode forms. */
#ifndef VARVE_REPO_CHECK_VERIFY_NAMES_H
#define VARVE_REPO_CHECK_VERIFY_NAMES_H

#include "repo/check/verify.h"

/* Tell, as VERIFY_WARNING, of directories to which revision REV adds an entry and that have two
 * with one normalised name, and of such paths in mergeinfo that it changes: one that it adds and
 * one that is, or was before, there too. Errors: E_MERGEINFO_PARSE_ERROR, of such mergeinfo. */
struct err *verify_names(struct fsfs *fs, revnum rev, const struct verify_params *params);

#endif
