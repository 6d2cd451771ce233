/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page that people see: the files of tools/run/page, which are built into the program. They
 * load nothing from elsewhere, and ask the server that they came from for all they show.
 */
#pragma once

#include <gio/gio.h>

/** What pages of one file may load, as a Content-Security-Policy has it. */
#define SL_HTTP_PAGE_POLICY                                                                   \
  "default-src 'none'; img-src 'self' data:; connect-src 'self'; style-src 'unsafe-inline'; " \
  "script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** What the console may load: files of its own, and no script or style within them. */
#define SL_HTTP_CONSOLE_POLICY                                                            \
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; " \
  "media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; "  \
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** sl_http_page_file: (transfer full) (nullable): a file of the console, such as "wall.js" or
 * "strings/en.json"; NULL if there is none of that @name. @type: (out): its media type. Any thread.
 */
GBytes *sl_http_page_file (const char *name, const char **type);
