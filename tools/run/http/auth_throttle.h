/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the passwords of one client one by one. After a wrong password, that client's next
 * passwords are not checked for a while. So a client cannot guess faster without waiting for
 * answers or with many connections. Other clients are not delayed. Runs in the server's thread.
 */
#pragma once

#include <libsoup/soup.h>

/** Milliseconds from a wrong password to the next one of the same client that is looked at. */
#define SL_AUTH_DELAY_MS 100

/** Passwords of one client that wait; more are refused unseen. */
#define SL_AUTH_MAX_WAITING 24

typedef struct _SlAuthThrottle SlAuthThrottle;

/** SlAuthThrottleFunc: looks at @message, a request for @path with the values @query (nullable),
 * whose turn it is. */
typedef void (*SlAuthThrottleFunc) (SoupServerMessage *message, const char *path, GHashTable *query,
                                    gpointer data);

/** sl_auth_throttle_new: calls @answer in the thread's default context. */
SlAuthThrottle *sl_auth_throttle_new (SlAuthThrottleFunc answer, gpointer data);
/** sl_auth_throttle_free: waiting messages are not answered any more. */
void sl_auth_throttle_free (SlAuthThrottle *throttle);
/** sl_auth_throttle_take: calls the function with @message, at once or when it is its turn;
 * @message is paused until then. FALSE: too many wait. */
gboolean sl_auth_throttle_take (SlAuthThrottle *throttle, SoupServerMessage *message,
                                const char *path, GHashTable *query);
/** sl_auth_throttle_take_for: the same, with another function. */
gboolean sl_auth_throttle_take_for (SlAuthThrottle *throttle, SoupServerMessage *message,
                                    const char *path, GHashTable *query, SlAuthThrottleFunc answer,
                                    gpointer data);
/** sl_auth_throttle_delay: the password of @message, whose turn it is, was wrong. */
void sl_auth_throttle_delay (SlAuthThrottle *throttle, SoupServerMessage *message);
/** sl_auth_throttle_expire: removes the messages whose connection has ended. Call it some times a
 * second. */
void sl_auth_throttle_expire (SlAuthThrottle *throttle);
