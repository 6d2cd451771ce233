/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a server listens, and who reaches it there. */
#pragma once

#include <gio/gio.h>

#include "pipelines/description/description.h"

/** SlHttpOptions: of the program; NULL = not given. */
typedef struct
{
  char *listen, *password_file, *certificate, *private_key;
} SlHttpOptions;

/** The GOptionEntries of --http, whose help is @what, and what belongs to it. */
#define SL_HTTP_OPTIONS(options, what)                                         \
  { "http", 0, 0, G_OPTION_ARG_STRING, &(options).listen, what, "ADDR:PORT" }, \
    { "http-password-file",                                                    \
      0,                                                                       \
      0,                                                                       \
      G_OPTION_ARG_FILENAME,                                                   \
      &(options).password_file,                                                \
      "File with the password of all clients",                                 \
      "FILE" },                                                                \
    { "http-certificate",                                                      \
      0,                                                                       \
      0,                                                                       \
      G_OPTION_ARG_FILENAME,                                                   \
      &(options).certificate,                                                  \
      "Serve HTTPS with this certificate (PEM)",                               \
      "FILE" },                                                                \
  {                                                                            \
    "http-key", 0, 0, G_OPTION_ARG_FILENAME, &(options).private_key,           \
      "The certificate's private key (PEM)", "FILE"                            \
  }

void sl_http_options_clear (SlHttpOptions *options);

/** sl_http_options_apply: @options become @settings'. @origin: what states the address, for
 * messages. FALSE with SL_ERROR_ARGUMENT set when something is said of a server that there is not,
 * or half of what TLS needs. */
gboolean sl_http_options_apply (const SlHttpOptions *options, const char *origin,
                                SlHttpSettings *settings, GError **error);
/** sl_http_address: (transfer full): what @text, ADDR:PORT, names: an address in numbers or
 * localhost, with [] around one of IPv6. NULL with SL_ERROR_ARGUMENT set. */
GSocketAddress *sl_http_address (const char *text, GError **error);
/** sl_http_options_check: FALSE with SL_ERROR_ARGUMENT set when the address of @options is none. */
gboolean sl_http_options_check (const SlHttpOptions *options, GError **error);
/** sl_http_check_reach: FALSE with SL_ERROR_ARGUMENT set when other machines reach @address and
 * @settings ask neither for a password nor for TLS. */
gboolean sl_http_check_reach (const SlHttpSettings *settings, GSocketAddress *address,
                              GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlHttpOptions, sl_http_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlHttpSettings, sl_http_settings_clear)
