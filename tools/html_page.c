/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/html_page.h"

#include <string.h>

#include "core/base/printable.h"

static const char css[] =
  ":root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--line:#d9dee3;--paper:#fff;"
  "--mark:#0a69da;--other:#bc4c00}\n"
  "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#363d46;"
  "--paper:#0d1117;--mark:#4493f8;--other:#f0883e}}\n"
  "body{font:15px/1.5 sans-serif;margin:2rem auto;padding:0 1rem;color:var(--ink);"
  "background:var(--paper)}\n"
  "h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2.5rem}h3{font-size:1rem;margin-top:2rem}h1,"
  "h2,h3,td,th,p,code{overflow-wrap:anywhere}\n"
  "figure{margin:0}figcaption{font-size:.85rem;color:var(--soft);"
  "overflow-wrap:anywhere}img{max-width:100%}\n"
  ".scroll{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem 1rem "
  ".2rem 0;text-align:left;vertical-align:top}\n"
  "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal;"
  "white-space:nowrap}thead th,tr.head th{border-bottom:1px solid var(--line)}\n"
  "td.share{min-width:8rem}td.share div{background:var(--mark);height:.7rem;margin-top:.4rem}\n"
  ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));"
  "gap:1.5rem}\n"
  ".sheet{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(14rem,100%),1fr));"
  "gap:1rem}.sheet img{width:100%}\n"
  ".pair{display:grid;grid-template-columns:1fr 1fr;gap:.5rem;margin-bottom:1rem}.pair "
  "img{width:100%}\n"
  "svg{max-width:100%;height:auto}svg.chart{width:100%}svg text{font:12px "
  "sans-serif;fill:var(--soft)}\n"
  "svg .title{font-weight:bold;font-size:14px;fill:var(--ink)}svg "
  ".note{fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px}svg "
  ".number{fill:var(--ink)}svg .grid{stroke:var(--line);fill:none}\n"
  "svg .main{stroke:var(--mark);stroke-width:2.5;fill:none;stroke-linejoin:round}svg "
  ".faint{stroke:var(--mark);stroke-opacity:.3;fill:none}\n"
  "svg .guide{stroke:var(--soft);stroke-dasharray:5 4;fill:none}svg .dot{fill:var(--other)}svg "
  ".bar{fill:var(--mark);fill-opacity:.75}\n"
  "svg .cell{fill:var(--mark)}svg .wrong{fill:var(--other)}\n";

GString *
sl_html_page_new (const char *title, guint width)
{
  GString *page = g_string_new (NULL);
  g_string_append (
    page, SL_HTML_HEAD
    "\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n");
  sl_html_append (page, "title", title);
  g_string_append_printf (page, "<style>\n%sbody{max-width:%urem}</style></head><body>\n", css,
                          width);
  return page;
}

void
sl_html_page_end (GString *page)
{
  g_string_append (page, "</body></html>\n");
}

void
sl_html_append_text (GString *page, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE),
                  *escaped = g_markup_escape_text (shown, -1);
  g_string_append (page, escaped);
}

void
sl_html_append (GString *page, const char *tag, const char *text)
{
  g_string_append_printf (page, "<%s>", tag);
  sl_html_append_text (page, text);
  g_string_append_printf (page, "</%.*s>\n", (int) strcspn (tag, " "), tag);
}

void
sl_html_append_row (GString *page, const char *name, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *value = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_string_append (page, "<tr>");
  sl_html_append (page, "th", name);
  sl_html_append (page, "td", value);
  g_string_append (page, "</tr>\n");
}

void
sl_html_append_bar (GString *page, gdouble share)
{
  g_string_append_printf (page, "<td class=\"share\"><div style=\"width:%.1f%%\"></div></td>",
                          100 * CLAMP (share, 0, 1));
}
