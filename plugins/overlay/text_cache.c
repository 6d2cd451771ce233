/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pango lays words out, Cairo renders them to coverage. The font map is the cache's own, because
 * Pango's shared one belongs to a thread.
 */
#include "plugins/overlay/text_cache.h"

#include <pango/pangocairo.h>
#include <string.h>

#include "core/base/printable.h"

#define FONT "Sans Bold"
/* Words kept, and characters shown of one: a hostile stream may name a million classes. */
#define MAX_WORDS 512
#define MAX_CHARACTERS 48
#define MAX_PIXELS 4096

struct _SlTextCache
{
  PangoFontMap *fonts;
  PangoContext *context;
  PangoLayout *layout;
  GHashTable *words; /* string -> SlStencil */
  gint size;
};

static void
free_stencil (gpointer data)
{
  g_free (((SlStencil *) data)->data);
  g_free (data);
}

SlTextCache *
sl_text_cache_new (void)
{
  SlTextCache *cache = g_new0 (SlTextCache, 1);
  cache->fonts = pango_cairo_font_map_new ();
  cache->context = pango_font_map_create_context (cache->fonts);
  cache->layout = pango_layout_new (cache->context);
  cache->words = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_stencil);
  sl_text_cache_set_size (cache, 16);
  return cache;
}

void
sl_text_cache_free (SlTextCache *cache)
{
  if (cache == NULL)
    return;
  g_hash_table_unref (cache->words);
  g_object_unref (cache->layout);
  g_object_unref (cache->context);
  g_object_unref (cache->fonts);
  g_free (cache);
}

void
sl_text_cache_set_size (SlTextCache *cache, gint pixels)
{
  if (cache->size == pixels)
    return;
  PangoFontDescription *font = pango_font_description_from_string (FONT);
  pango_font_description_set_absolute_size (font, (double) CLAMP (pixels, 4, 512) * PANGO_SCALE);
  pango_layout_set_font_description (cache->layout, font);
  pango_font_description_free (font);
  g_hash_table_remove_all (cache->words);
  cache->size = pixels;
}

static SlStencil *
render (SlTextCache *cache, const char *word)
{
  gint width = 0, height = 0;
  SlStencil *stencil = g_new0 (SlStencil, 1);
  g_autofree char *shown = sl_printable (word, MAX_CHARACTERS);
  pango_layout_set_text (cache->layout, shown, -1);
  pango_layout_get_pixel_size (cache->layout, &width, &height);
  stencil->width = CLAMP (width, 1, MAX_PIXELS);
  stencil->height = CLAMP (height, 1, MAX_PIXELS);
  stencil->stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, stencil->width);
  stencil->data = g_malloc0 ((gsize) stencil->stride * (gsize) stencil->height);
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
    stencil->data, CAIRO_FORMAT_A8, stencil->width, stencil->height, stencil->stride);
  cairo_t *cairo = cairo_create (surface);
  pango_cairo_update_layout (cairo, cache->layout);
  pango_cairo_show_layout (cairo, cache->layout);
  cairo_destroy (cairo);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  return stencil;
}

static const SlStencil *
find_word (SlTextCache *cache, const char *word)
{
  SlStencil *stencil = g_hash_table_lookup (cache->words, word);
  if (stencil != NULL)
    return stencil;
  if (g_hash_table_size (cache->words) >= MAX_WORDS)
    g_hash_table_remove_all (cache->words);
  stencil = render (cache, word);
  g_hash_table_insert (cache->words, g_strdup (word), stencil);
  return stencil;
}

/* Width of everything, drawn when there is a canvas. */
static gint
walk (SlTextCache *cache, SlCanvas *canvas, gint x, gint y, const char *word, const char *number,
      SlInk ink, gint *height)
{
  const gint start = x;
  *height = 0;
  if (word != NULL && word[0] != '\0') {
    const SlStencil *stencil = find_word (cache, word);
    if (canvas != NULL)
      sl_canvas_stencil (canvas, x, y, stencil, ink);
    x += stencil->width;
    *height = stencil->height;
  }
  for (; number != NULL && *number != '\0'; number++) {
    const char character[2] = { *number, '\0' };
    const SlStencil *stencil = find_word (cache, character);
    if (canvas != NULL)
      sl_canvas_stencil (canvas, x, y, stencil, ink);
    x += stencil->width;
    *height = MAX (*height, stencil->height);
  }
  return x - start;
}

gint
sl_text_cache_measure (SlTextCache *cache, const char *word, const char *number, gint *height)
{
  return walk (cache, NULL, 0, 0, word, number, (SlInk){ { 0 } }, height);
}

void
sl_text_cache_draw (SlTextCache *cache, SlCanvas *canvas, gint x, gint y, const char *word,
                    const char *number, SlInk ink)
{
  gint height;
  walk (cache, canvas, x, y, word, number, ink, &height);
}
