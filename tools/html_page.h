/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that `quantize` and `fit` write: one file each, which loads nothing from elsewhere and runs no script. */
#ifndef SL_TOOLS_HTML_PAGE_H
#define SL_TOOLS_HTML_PAGE_H

#include <glib.h>

/** sl_html_page_new: (transfer full): a page up to the start of its body. @width: largest width in rem; @css: rules beside the common ones. */
GString *sl_html_page_new (const char *title, guint width, const char *css);
/** sl_html_append_text: @text made printable, without anything that a browser takes for more than text. */
void sl_html_append_text (GString *page, const char *text);

#endif
