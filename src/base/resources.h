/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h - how the process deals with the system's memory and descriptors. None of this can
 * fail: it goes on with what there is. */
#ifndef VARVE_BASE_RESOURCES_H
#define VARVE_BASE_RESOURCES_H

/* Occupy the numbers of standard input, output and error that are closed, so that no file or socket
 * gets one of them and what is printed goes into it. Reading and writing there still fails. */
void descriptors_occupy_standard(void);

/* Let the process have at least COUNT descriptors open at once, as far as the system allows. */
void descriptors_raise(unsigned long count);

/* Keep freed memory until the end: for what runs once through and wants it again at once. */
void memory_keep(void);
/* Give freed memory back from a thread of its own, not from those that free it (which costs each
 * thread at its end more than all else that a short connection does). Not before the last fork that
 * leaves the parent behind. */
void memory_return_aside(void);

#endif
