/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cursor over the literals that Python's repr() and JSON share: dictionaries, lists, tuples,
 * strings in either quote, numbers and words. Untrusted text is allowed; nothing is read past its
 * end.
 */
#pragma once

#include <glib.h>

typedef struct
{
  const char *p, *end;
} SlLiteral;

/** sl_literal_accept: TRUE, and moves on, when the next character that is no space is @wanted. */
gboolean sl_literal_accept (SlLiteral *c, char wanted);
/** sl_literal_scalar: a string, number or word into @out; FALSE when there is none of these. */
gboolean sl_literal_scalar (SlLiteral *c, GString *out);
/** SlLiteralEntry: reads the value of @key, behind its colon; @scratch is the callee's to use. */
typedef gboolean (*SlLiteralEntry) (SlLiteral *c, const char *key, GString *scratch, gpointer data);
/** sl_literal_dictionary: a dictionary, @read for each of its entries in order; FALSE when there is
 * none, or @read gives FALSE. */
gboolean sl_literal_dictionary (SlLiteral *c, SlLiteralEntry read, gpointer data);
/** sl_literal_skip: moves over one value of any kind, @scratch changes; FALSE when there is none,
 * or one nested more than 16 deep. */
gboolean sl_literal_skip (SlLiteral *c, GString *scratch);
