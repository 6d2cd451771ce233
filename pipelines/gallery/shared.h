/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of a gallery that several machines share: what other machines say goes into it, and what
 * is in it is compared with what they know. No network. Functions return FALSE with @error set.
 */
#pragma once

#include "pipelines/gallery/message.h"
#include "pipelines/gallery/store.h"

/** Machines have numbers up to this one; numbers of people are from MACHINE * this on. */
#define SL_IDENTITY_MACHINES 999
#define SL_IDENTITY_NUMBERS G_GINT64_CONSTANT (1000000000)
/** Erasures that a file remembers. */
#define SL_IDENTITY_ERASURES 100000
/** Bytes of the name of an erasure, with the end. */
#define SL_IDENTITY_TOKEN 33

/** sl_identity_shared_prepare: the file is of machine @machine from now on. People of a file that
 * was not shared get numbers of that machine. @hello: (out): what it says to others */
gboolean sl_identity_shared_prepare (SlIdentityStore *store, guint machine, SlIdentityHello *hello,
                                     GError **error);
/** sl_identity_shared_forgot, sl_identity_shared_merged: in a transaction: notes for other machines
 * what is erased, before people without a view go. Nothing in a file that is not shared. */
gboolean sl_identity_shared_forgot (SlIdentityStore *store, const SlIdentityChoice *choice,
                                    GError **error);
gboolean sl_identity_shared_merged (SlIdentityStore *store, gint64 from, gint64 into,
                                    GError **error);
/** sl_identity_shared_read: all that the file knows of @person; no views: nobody has the number. */
gboolean sl_identity_shared_read (SlIdentityStore *store, gint64 person, SlIdentityState *state,
                                  GError **error);
/** sl_identity_shared_take: what another machine knows of @person at @now. @print: (out): the
 * fingerprint of what the file has then, where that is all in @state, else 0. @is_gone: (out):
 * the number is nobody's any more */
gboolean sl_identity_shared_take (SlIdentityStore *store, gint64 person,
                                  const SlIdentityState *state, gint64 now, guint64 *print,
                                  gboolean *is_gone, GError **error);
/** sl_identity_shared_erase: what another machine erased or merged, called @token. */
gboolean sl_identity_shared_erase (SlIdentityStore *store, const char *token,
                                   const SlIdentityErasure *erasure, GError **error);
/** sl_identity_shared_next: the erasure behind @number, which becomes its number; 0 = there is
 * none. */
gboolean sl_identity_shared_next (SlIdentityStore *store, gint64 *number,
                                  char token[SL_IDENTITY_TOKEN], SlIdentityErasure *erasure,
                                  GError **error);
/** sl_identity_shared_is_gone: whether @person was forgotten, or is somebody else. */
gboolean sl_identity_shared_is_gone (SlIdentityStore *store, gint64 person);
/** sl_identity_shared_prints: (transfer full): fingerprints (guint64 *) of all people that machines
 * share, by id (gint64 *). NULL with @error set. */
GHashTable *sl_identity_shared_prints (SlIdentityStore *store, GError **error);
