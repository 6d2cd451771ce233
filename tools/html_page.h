/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that commands write: one file each, which loads nothing from elsewhere and runs no script,
 * for light and dark screens. */
#pragma once

#include <glib.h>

/** SL_HTML_HEAD: how each page begins. */
#define SL_HTML_HEAD "<!DOCTYPE html>"
/** sl_html_page_new: (transfer full): a page up to the start of its body. @width: largest width in
 * rem. */
GString *sl_html_page_new (const char *title, guint width);
void sl_html_page_end (GString *page);
/** sl_html_append_text: @text made printable, without anything that a browser takes for more than
 * text. */
void sl_html_append_text (GString *page, const char *text);
/** sl_html_append: @text as the content of @tag, such as "h2" or "td class=\"n\"". */
void sl_html_append (GString *page, const char *tag, const char *text);
/** sl_html_append_row: a row of a table: @name, and a text by @format. */
void sl_html_append_row (GString *page, const char *name, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_html_append_bar: a cell of a table with a bar for @share, 0..1. */
void sl_html_append_bar (GString *page, gdouble share);
