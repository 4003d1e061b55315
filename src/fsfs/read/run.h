/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - changed paths and properties of revisions that follow each other, in one piece of memory.
 *
 * What a long log costs is waiting for memory: a revision that is looked up for itself takes a
 * search of the cache, a reference, and a dozen lines from all over. A run is looked up once for up
 * to RUN_LENGTH revisions, and what is read next lies behind what was read last, where the
 * processor fetches it ahead. Nothing else is kept of the small revision files that it is made
 * from.
 *
 * Runs begin at multiples of RUN_LENGTH within a shard and end with it, so that one stamp tells
 * whether the properties are as they were; what is above the last whole run is in none. Which
 * revisions a run lacks (0; what cannot be read; what is large) is no business of its reader: it
 * asks changes_get and revprops_get for them, and hears from those what is wrong. */
#ifndef VARVE_FSFS_READ_RUN_H
#define VARVE_FSFS_READ_RUN_H

#include "fsfs/format/changes.h"
#include "fsfs/read/revprops.h"

enum {
    RUN_LENGTH = 32,       /* revisions */
    RUN_BYTES = 32 * 1024, /* of one revision's list where it may be in a run: so a run has about
                              1 MiB at most, which a cache above 64 MiB takes and a log may hold */
};

/* One thread's, for one request; it holds on to the runs used last. */
struct run_reader;
struct run_reader *run_reader_new(struct fsfs *fs, struct revprop_view *view, struct arena *arena);

/* What REV changed, and its properties; NULL where they are in no run that is at hand. A run that
 * the cache lacks is made once the reader has asked for more than half of the revisions that it
 * came by. What is returned is not counted for itself (shared_ref): its run is, and lives as long
 * as ARENA. */
const struct changes *run_changes(struct run_reader *reader, revnum rev, struct arena *arena);
const struct props *run_revprops(struct run_reader *reader, revnum rev, struct arena *arena);

/* The properties of REV were changed. */
void run_forget_revprops(const struct fsfs *fs, revnum rev);

/* Ask for what COUNT revisions from FIRST on need and no run at hand holds. */
void run_prefetch_changes(struct run_reader *reader, revnum first, int count);
void run_prefetch_revprops(struct run_reader *reader, revnum first, int count);

#endif
