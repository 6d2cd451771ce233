/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may ask. Fixed once made.
 */
#ifndef SL_TOOLS_RUN_HTTP_GATE_H
#define SL_TOOLS_RUN_HTTP_GATE_H

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _SlGate SlGate;

/** sl_gate_new: @password: (nullable): that clients must know; @local: only this machine reaches the server. */
SlGate *sl_gate_new (const char *password, gboolean local);
void sl_gate_free (SlGate *gate);
/** sl_gate_is_told: whether @message says a password, right or wrong, and one is asked for. */
gboolean sl_gate_is_told (const SlGate *gate, SoupServerMessage *message);
/** sl_gate_check: (nullable): NULL when @message may be answered; else why not, with the status and headers for that set. */
const char *sl_gate_check (const SlGate *gate, SoupServerMessage *message);

G_END_DECLS

#endif
