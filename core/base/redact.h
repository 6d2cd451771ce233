/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removes passwords from texts that leave the process. All code that shows a URI, or a sentence
 * that may contain one, calls a function of this header first. An ambiguous text loses more than
 * its password, never less.
 */
#pragma once

#include <glib.h>

/** What stands in the place of a secret. */
#define SL_HIDDEN "***"

/**
 * sl_redact_uri: (transfer full): @uri, a single URI or a malformed one, without its secrets.
 *
 * Hidden are: the text between a ':' after the scheme and the last '@', with any characters and
 * with any scheme or none; and the values of password=, pwd=, token=, secret=, key=, auth= and the
 * like in path and query. Paths of files and devices are left as they are, and examples: HOST:port,
 * USER:PASSWORD@HOST:PORT. Redacting twice changes nothing.
 * @secrets: (nullable): gets a copy (char *) of each value that was hidden
 */
char *sl_redact_uri (const char *uri, GPtrArray *secrets);

/** sl_redact: (transfer full): @text with each URI in it as sl_redact_uri() makes it, and the
 * values of password=, token= and the like hidden: sentences, launch lines, graphs in DOT. A value
 * in quotes may have blanks in it. */
char *sl_redact (const char *text);

/** sl_redact_secrets: (transfer full): @text with each of @secrets (char *) hidden. Those of less
 * than 3 bytes are left: hiding them would garble the text and hide nothing. */
char *sl_redact_secrets (const char *text, const GPtrArray *secrets);
