/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords out of texts that leave the process. Whatever shows a URI, or a sentence that may have one in it, calls a function of
 * this header first. A doubtful text loses more than its password, never less.
 */
#ifndef SL_BASE_REDACT_H
#define SL_BASE_REDACT_H

#include <glib.h>

/** What stands in the place of a secret. */
#define SL_HIDDEN "***"

/**
 * sl_redact_uri: (transfer full): @uri, the whole of which is one URI or what was meant to be one, without its secrets.
 *
 * Hidden are: what stands between a ':' behind the scheme and the last '@', whatever characters it has and whether or not the scheme is a
 * known one or is there at all; and the values of password=, pwd=, token=, secret=, key=, auth= and the like in path and query. Paths of
 * files and devices are left as they are, and examples: HOST:port, USER:PASSWORD@HOST:PORT. Redacting twice changes nothing.
 * @secrets: (nullable): gets a copy (char *) of each value that was hidden
 */
char *sl_redact_uri (const char *uri, GPtrArray *secrets);

/** sl_redact: (transfer full): @text with each URI in it as sl_redact_uri() makes it, and the values of password=, token= and
 *  the like hidden: sentences, launch lines, graphs in DOT. A value in quotes may have blanks in it. */
char *sl_redact (const char *text);

/** sl_redact_secrets: (transfer full): @text with each of @secrets (char *) hidden. Those of less than 3 bytes are left: hiding them would
 *  garble the text and hide nothing. */
char *sl_redact_secrets (const char *text, const GPtrArray *secrets);

#endif
