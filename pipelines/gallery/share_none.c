/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without libmosquitto. */
#include "core/base/fail.h"
#include "pipelines/gallery/share.h"

gboolean
sl_identity_share_check (const SlIdentityUse *use, GError **error)
{
  return use->share == NULL
         || sl_fail (error, SL_ERROR_UNSUPPORTED,
                     "share: this sightline was built without libmosquitto, expected one with it: "
                     "leave share= out, or install libmosquitto and build again");
}

SlIdentityShare *
sl_identity_share_new (const SlIdentityUse *use, const SlIdentityHello *hello, GError **error)
{
  return NULL;
}

void
sl_identity_share_free (SlIdentityShare *share)
{
}

void
sl_identity_share_stats (SlIdentityShare *share, SlIdentityStats *stats)
{
}

char *
sl_identity_share_trouble (SlIdentityShare *share)
{
  return NULL;
}
