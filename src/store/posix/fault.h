/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - a disk that fails or loses power where a test wants it. */
#ifndef VARVE_STORE_POSIX_FAULT_H
#define VARVE_STORE_POSIX_FAULT_H

#include "store/posix/disk.h"

enum fault_loss {
    FAULT_KEEP_UNSYNCED, /* all reached the disk: the process died, not the machine */
    FAULT_LOSE_UNSYNCED, /* contents and names as at their last sync */
    FAULT_LOSE_CONTENTS, /* names reached the disk, contents did not. Tried at each operation this
                            is every prefix of the changes of names that a filesystem which keeps
                            their order may leave: contents synced after the last of a prefix that
                            stayed only make it safer */
};
struct fault_disk;
struct fault_disk *fault_disk_new(void);
struct disk *fault_disk_ops(struct fault_disk *fault);
/* From operation number K (from 0) on everything fails with EIO; UINT64_MAX: never. Resets the
 * count. Closing does not count (and does happen); a write that is cut has written half. */
void fault_disk_arm(struct fault_disk *fault, uint64_t k);
/* From operation number K on, readings counted too, TIMES of them fail with CODE (an errno value)
 * and do nothing; then all is well again. TIMES 0: none. */
void fault_disk_fail(struct fault_disk *fault, uint64_t k, uint64_t times, int code);
/* Has one failed since? */
bool fault_disk_has_failed(struct fault_disk *fault);
uint64_t fault_disk_count(const struct fault_disk *fault); /* operations since armed */
/* Make the disk look as after the crash, and begin anew as after fault_disk_arm(UINT64_MAX). All
 * descriptors got from it are to be closed before or after, but not written to. */
struct err *fault_disk_crash(struct fault_disk *fault, enum fault_loss loss);
void fault_disk_free(struct fault_disk *fault);

#endif
