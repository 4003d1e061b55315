/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the repositories that this process has open, each once, shared by all its
 * connections.
 *
 * A repository that was replaced on disk (another UUID, format or folder at the same path) is
 * opened anew for those who come then, with nothing cached; who has it open keeps what is known of
 * the old one and can write no more (lease_take). */
#ifndef VARVE_REPO_ADMIN_REGISTRY_H
#define VARVE_REPO_ADMIN_REGISTRY_H

#include "repo/admin/repo.h"

/* The repository in PATH, open; give it back with registry_release. */
struct err *registry_acquire(struct repo **out, const char *path);
void registry_release(
    struct repo *repo); /* NULL is fine; it stays open for the next one until registry_close_all */
/* Close everything that nobody uses, at the end of the process. */
void registry_close_all(void);

#endif
