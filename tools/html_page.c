/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/html_page.h"

#include "core/base/printable.h"

GString *
sl_html_page_new (const char *title, guint width, const char *css)
{
  GString *page = g_string_new (NULL);
  g_string_append_printf (
    page,
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n<style>\n"
    "body{font:15px/1.5 sans-serif;max-width:%urem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\n"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
    "figure{margin:0}figcaption{font-size:.85rem;color:#555;overflow-wrap:anywhere}\n%s</style></head><body>\n",
    title, width, css);
  return page;
}

void
sl_html_append_text (GString *page, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE), *escaped = g_markup_escape_text (shown, -1);
  g_string_append (page, escaped);
}
