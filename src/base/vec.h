/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h - arrays that grow by doubling.
 *
 *     VEC(struct thing) things = {0};
 *     *VEC_ADD(&things) = (struct thing){...};
 *     for (size_t i = 0; i < things.n; i++)
 *         ... things.list[i] ...
 *     free(things.list);
 *
 * A struct with members list, n and cap of its own serves as well. Adding may move the array, so
 * pointers into it are good until the next addition. Memory is taken as by mem_alloc: never NULL.
 */
#ifndef VARVE_BASE_VEC_H
#define VARVE_BASE_VEC_H

#include "base/account.h"
#include "base/arena.h"
#include <stdlib.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *list;                                                                                \
        size_t n, cap;                                                                             \
    }

/* A pointer to one more element, uninitialised, at the end: */
#define VEC_ADD(vec) VEC_ADD_BY(vec, vec_grow((vec)->list, &(vec)->cap, sizeof *(vec)->list))
/* in ARENA; what the array outgrows stays there; */
#define VEC_ADD_IN(vec, arena)                                                                     \
    VEC_ADD_BY(vec, vec_grow_in((arena), (vec)->list, &(vec)->cap, sizeof *(vec)->list))
/* on the heap and charged to ACCOUNT (NULL is fine): given back by VEC_RELEASE; */
#define VEC_ADD_FOR(vec, account)                                                                  \
    VEC_ADD_BY(vec, account_grow((account), (vec)->list, &(vec)->cap, sizeof *(vec)->list))
/* where the first elements lie in the array INSIDE, at which list and cap point to begin with:
 * freed by VEC_FREE_FROM. */
#define VEC_ADD_FROM(vec, inside)                                                                  \
    VEC_ADD_BY(vec, vec_grow_from((inside), (vec)->list, &(vec)->cap, sizeof *(vec)->list))

#define VEC_RELEASE(vec, account)                                                                  \
    account_release((account), (vec)->list, (vec)->cap, sizeof *(vec)->list)
#define VEC_FREE_FROM(vec, inside) ((vec)->list == (inside) ? (void)0 : free((vec)->list))

#define VEC_ADD_BY(vec, grown)                                                                     \
    ((vec)->n == (vec)->cap ? (void)((vec)->list = (grown)) : (void)0, &(vec)->list[(vec)->n++])

/* What the macros are made of: ARRAY of *CAP elements of SIZE bytes, with room for twice as many.
 */
void *vec_grow(void *array, size_t *cap, size_t size);
void *vec_grow_in(struct arena *arena, const void *array, size_t *cap, size_t size);
void *vec_grow_from(const void *inside, void *array, size_t *cap, size_t size);

#endif
