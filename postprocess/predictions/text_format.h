/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Formats of texts, such as the number plates of countries, from a file of patterns. A text that
 * has a format may be corrected by it: where the format allows a letter alone, a digit that looks
 * like one is replaced, and the other way round.
 */
#pragma once

#include "postprocess/predictions/prediction.h"

/** Most formats of a file, and most characters of a format. */
#define SL_MAX_FORMATS 64
#define SL_MAX_FORMAT_LENGTH 32

typedef struct _SlTextFormats SlTextFormats;

/** sl_text_formats_load: reads a file of at most 64 KiB. A line is one of these:
 *  - "NAME: PATTERN". In the pattern A is a letter A to Z, 9 a digit, * either, and [XYZ] one of
 *    these characters. {N} or {N,M} behind one of them repeats it. Spaces and '-' separate groups.
 *  - "pairs: O0 D>0 ...": pairs of characters that look alike; with > the second one alone may
 * replace
 *    the first.
 *  - empty, or a comment that begins with '#'.
 * NULL with SL_ERROR_OPEN or SL_ERROR_FORMAT, and file and line in the message. */
SlTextFormats *sl_text_formats_load (const char *path, GError **error);
/** sl_text_formats_free: NULL is legal. */
void sl_text_formats_free (SlTextFormats *formats);
/** sl_text_formats_apply: finds the format of @text with the fewest corrections, at most @most; of
 * several that one of the file's order. Small letters count as capitals, and separators do not
 * count. If one is found, @text has its name and its spelling: capitals, no separators, and
 * corrected characters. A character is only corrected if the format forces one certain character.
 * Otherwise
 * @text does not change. Allocates nothing. */
void sl_text_formats_apply (const SlTextFormats *formats, guint most, SlTextView *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTextFormats, sl_text_formats_free)
