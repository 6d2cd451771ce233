/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The socket is shut down, which its stream takes for the client's goodbye. An item whose socket is
 * gone is forgotten at the next tick. */
#include "tools/run/api/revoke.h"

#include <string.h>

typedef struct
{
  GWeakRef socket;
  char *cookie;      /* (nullable): names a session */
  char *user, *hash; /* without a cookie */
  SlRole role;       /* of the route */
} Item;

struct _SlRevoke
{
  SlWho *who;
  GPtrArray *items;
};

static void
item_free (gpointer data)
{
  Item *item = data;
  g_weak_ref_clear (&item->socket);
  g_free (item->cookie);
  g_free (item->user);
  g_free (item->hash);
  g_free (item);
}

SlRevoke *
sl_revoke_new (SlWho *who)
{
  SlRevoke *revoke = g_new0 (SlRevoke, 1);
  revoke->who = who;
  revoke->items = g_ptr_array_new_with_free_func (item_free);
  return revoke;
}

void
sl_revoke_free (SlRevoke *revoke)
{
  g_ptr_array_unref (revoke->items);
  g_free (revoke);
}

void
sl_revoke_watch (SlRevoke *revoke, SlApiCall *call)
{
  const SlUsers *users = revoke->who->users;
  const SlUser *user =
    call->session == NULL && users != NULL ? sl_users_find (users, call->user) : NULL;
  if (call->session == NULL && user == NULL)
    return; /* a password that no one changes while the program runs */
  Item *item = g_new0 (Item, 1);
  g_weak_ref_init (&item->socket, sl_connections_socket (call->request.message));
  item->cookie = call->session != NULL ? sl_api_call_cookie (call) : NULL;
  item->user = user != NULL ? g_strdup (user->name) : NULL;
  item->hash = user != NULL ? g_strdup (user->hash) : NULL;
  item->role = call->route->role;
  g_ptr_array_add (revoke->items, item);
}

static gboolean
may_go_on (const SlRevoke *revoke, const Item *item, gint64 now)
{
  SlRole role = SL_ROLE_NONE;
  if (item->cookie != NULL)
    return sl_who_session (revoke->who, item->cookie, now, &role) != NULL && role >= item->role;
  const SlUser *user = sl_users_find (revoke->who->users, item->user);
  return user != NULL && strcmp (user->hash, item->hash) == 0 && user->role >= item->role;
}

void
sl_revoke_tick (SlRevoke *revoke, gint64 now)
{
  for (guint i = revoke->items->len; i > 0; i--) {
    Item *item = revoke->items->pdata[i - 1];
    g_autoptr (GSocket) socket = g_weak_ref_get (&item->socket);
    const gboolean good = socket != NULL && may_go_on (revoke, item, now);
    if (socket != NULL && !good)
      g_socket_shutdown (socket, TRUE, TRUE, NULL);
    if (!good)
      g_ptr_array_remove_index_fast (revoke->items, i - 1);
  }
}
