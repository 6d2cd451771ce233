/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two files change one after the other: they are read once they have been the same for a while. */
#include "tools/run/http/certificate.h"

#include <string.h>
#include <sys/stat.h>

#include "core/base/fail.h"

/* What tells a file from the one before it. */
typedef struct
{
  guint64 inode;
  gint64 size, seconds, nanoseconds;
} Mark;

struct _SlCertificate
{
  const char *paths[2]; /* certificate, private key */
  Mark loaded[2], seen[2];
  GTlsCertificate *tls;
};

static void
look (const SlCertificate *certificate, Mark marks[2])
{
  memset (marks, 0, 2 * sizeof *marks);
  for (guint i = 0; i < 2; i++) {
    struct stat about;
    if (stat (certificate->paths[i], &about) == 0)
      marks[i] = (Mark){ about.st_ino, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec };
  }
}

static gboolean
is_same (const Mark one[2], const Mark other[2])
{
  return memcmp (one, other, 2 * sizeof *one) == 0;
}

static gboolean
load (SlCertificate *certificate, GError **error)
{
  g_autoptr (GError) reason = NULL;
  GTlsCertificate *tls =
    g_tls_certificate_new_from_files (certificate->paths[0], certificate->paths[1], &reason);
  if (tls == NULL)
    return sl_fail (error, SL_ERROR_OPEN,
                    "certificate %s with the private key %s: %s; expected PEM files%s",
                    certificate->paths[0], certificate->paths[1], reason->message,
                    g_tls_backend_supports_tls (g_tls_backend_get_default ())
                      ? ""
                      : ", and GIO's TLS (Debian: glib-networking)");
  g_clear_object (&certificate->tls);
  certificate->tls = tls;
  return TRUE;
}

SlCertificate *
sl_certificate_new (const char *path, const char *private_key, GError **error)
{
  SlCertificate *certificate = g_new0 (SlCertificate, 1);
  certificate->paths[0] = path;
  certificate->paths[1] = private_key;
  look (certificate, certificate->loaded);
  memcpy (certificate->seen, certificate->loaded, sizeof certificate->seen);
  if (load (certificate, error))
    return certificate;
  sl_certificate_free (certificate);
  return NULL;
}

void
sl_certificate_free (SlCertificate *certificate)
{
  g_clear_object (&certificate->tls);
  g_free (certificate);
}

GTlsCertificate *
sl_certificate_tls (const SlCertificate *certificate)
{
  return certificate->tls;
}

gboolean
sl_certificate_refresh (SlCertificate *certificate, GError **error)
{
  Mark now[2];
  look (certificate, now);
  const gboolean settled = is_same (now, certificate->seen);
  memcpy (certificate->seen, now, sizeof now);
  if (!settled || is_same (now, certificate->loaded))
    return FALSE;
  memcpy (certificate->loaded, now, sizeof now);
  return load (certificate, error);
}
