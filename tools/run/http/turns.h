/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passwords are looked at one by one, and after a wrong one none is for a while, whoever says it: what a guess costs is not less for a
 * client that does not wait for its answer, or that has many connections. The server's thread.
 */
#ifndef SL_TOOLS_RUN_HTTP_TURNS_H
#define SL_TOOLS_RUN_HTTP_TURNS_H

#include <libsoup/soup.h>

G_BEGIN_DECLS

/** Milliseconds from a wrong password to the next one that is looked at. */
#define SL_TURN_MS 100

typedef struct _SlTurns SlTurns;

/** SlTurn: looks at @message, a request for @path with the values @query (nullable), whose turn it is. */
typedef void (*SlTurn) (SoupServerMessage *message, const char *path, GHashTable *query, gpointer data);

/** sl_turns_new: calls @turn in the thread's default context. */
SlTurns *sl_turns_new (SlTurn turn, gpointer data);
/** sl_turns_free: who waits is not called any more. */
void sl_turns_free (SlTurns *turns);
/** sl_turns_take: calls the function with @message, at once or when it is its turn; @message is paused until then. One whose client goes
 *  before loses its turn. */
void sl_turns_take (SlTurns *turns, SoupServerMessage *message, const char *path, GHashTable *query);
/** sl_turns_delay: the password of the one whose turn it is was wrong. */
void sl_turns_delay (SlTurns *turns);

G_END_DECLS

#endif
