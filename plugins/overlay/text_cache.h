/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words as stencils, rendered once and kept. Numbers change every frame, so their characters are
 * kept one by one. One cache an element, one thread at a time.
 */
#pragma once

#include "plugins/overlay/canvas.h"

typedef struct _SlTextCache SlTextCache;

SlTextCache *sl_text_cache_new (void);
void sl_text_cache_free (SlTextCache *cache);
/** sl_text_cache_set_size: height of the font in pixels, 4..512; another size empties the cache. */
void sl_text_cache_set_size (SlTextCache *cache, gint pixels);
/** sl_text_cache_measure: width of @word followed by @number (each nullable); *@height of a line.
 */
gint sl_text_cache_measure (SlTextCache *cache, const char *word, const char *number, gint *height);
/** sl_text_cache_draw: @word and @number with their top left corner at (@x, @y). */
void sl_text_cache_draw (SlTextCache *cache, SlCanvas *canvas, gint x, gint y, const char *word,
                         const char *number, SlInk ink);
