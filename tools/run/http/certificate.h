/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's certificate, which is read again when its files change. */
#pragma once

#include <gio/gio.h>

typedef struct _SlCertificate SlCertificate;

/** sl_certificate_new: of PEM files. NULL with SL_ERROR_OPEN. @certificate and @private_key must
 * live as long. */
SlCertificate *sl_certificate_new (const char *certificate, const char *private_key,
                                   GError **error);
void sl_certificate_free (SlCertificate *certificate);
/** sl_certificate_tls: (transfer none) */
GTlsCertificate *sl_certificate_tls (const SlCertificate *certificate);
/** sl_certificate_refresh: to be called about once a second: whether it is another one now. FALSE
 * with @error set, once for a change, when new files cannot be used: it stays as it was. */
gboolean sl_certificate_refresh (SlCertificate *certificate, GError **error);
