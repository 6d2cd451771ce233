/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams and downloads go on after the request that began them was checked. They end when their
 * session ends, or their user is removed, gets another password or may do less. Server's thread.
 */
#pragma once

#include "tools/run/api/call.h"

/** sl_revoke_new: @who must live as long. */
SlRevoke *sl_revoke_new (SlWho *who);
void sl_revoke_free (SlRevoke *revoke);
/** sl_revoke_watch: from now on @call's connection ends once its user may no longer ask for its
 * route. */
void sl_revoke_watch (SlRevoke *revoke, SlApiCall *call);
/** sl_revoke_tick: ends the connections whose users may not have them any more. */
void sl_revoke_tick (SlRevoke *revoke, gint64 now);
