/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page that people see: page.html, which loads nothing from elsewhere and asks the server that
 * it came from for all it shows.
 */
#pragma once

#include <glib.h>

/** What the page may load, as a Content-Security-Policy has it. */
#define SL_HTTP_PAGE_POLICY                                                                                                               \
  "default-src 'none'; img-src 'self' data:; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors " \
  "'none'; base-uri 'none'; form-action 'none'"

/** sl_http_page: (transfer none): HTML. */
const char *sl_http_page (void);
