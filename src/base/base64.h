/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h - bytes as letters, as svn:// carries the tokens of SASL. */
#ifndef VARVE_BASE_BASE64_H
#define VARVE_BASE_BASE64_H

#include "base/buf.h"

/* Append BYTES in lines of 76 letters, each ended by LF; nothing for no bytes. */
void base64_encode(struct buf *to, struct str bytes);
/* Append what TEXT stands for. As lenient as peers expect: other characters are passed over, the
 * first '=' ends the text, and up to three letters at the end without one are dropped. */
void base64_decode(struct buf *to, struct str text);

#endif
