/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where streams are offered, and to whom. */
#pragma once

#include <glib.h>

/** Most connections of clients to a port. */
#define SL_RESTREAM_CLIENTS_MOST 64

/**
 * SlRestreamPlace:
 * @address: numeric; "0.0.0.0" = every IPv4 address of this machine
 * @port: 0 = a free one
 * @path: begins with "/"
 * @user, @password: (nullable): both or neither
 * @clients: connections at a time, 1..SL_RESTREAM_CLIENTS_MOST
 * @camera: the path with SL_RESTREAM_CAMERA behind it is taken, too
 */
typedef struct
{
  char *address, *path, *user, *password;
  guint port, clients;
  gboolean camera;
} SlRestreamPlace;

/** What is behind the path for the camera's own stream. */
#define SL_RESTREAM_CAMERA "/camera"

/** sl_restream_place_parse: sets address, port and path of @place, which is zeroed, from @text:
 * [ADDR]:PORT/PATH. FALSE with SL_ERROR_ARGUMENT set. */
gboolean sl_restream_place_parse (SlRestreamPlace *place, const char *text, GError **error);
/** sl_restream_place_is_open: whether other machines reach it without a password. */
gboolean sl_restream_place_is_open (const SlRestreamPlace *place);
/** sl_restream_place_check_user: FALSE with SL_ERROR_ARGUMENT set where the streams of @port, which
 * have @user and @password (nullable), have others than @place. */
gboolean sl_restream_place_check_user (const SlRestreamPlace *place, const char *user,
                                       const char *password, guint port, GError **error);
/** sl_restream_fail_taken: sets @error, SL_ERROR_ARGUMENT: @path has an element. Returns FALSE. */
gboolean sl_restream_fail_taken (const char *path, guint port, GError **error);
/** sl_restream_place_meets: FALSE with SL_ERROR_ARGUMENT set where @place cannot be had beside
 * @other. */
gboolean sl_restream_place_meets (const SlRestreamPlace *place, const SlRestreamPlace *other,
                                  GError **error);
void sl_restream_place_clear (SlRestreamPlace *place);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlRestreamPlace, sl_restream_place_clear)
