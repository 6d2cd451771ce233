/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline check` says of an slgallery. A file that is there is read, and none is made or
 * changed.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "pipelines/gallery/store.h"
#include "tools/check/findings.h"

#define PROBLEM(...) \
  sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), __VA_ARGS__)

/* @most: people. Texts are nullable, but for @camera. */
typedef struct
{
  char *location, *keep, *key_file, *camera, *share;
  gint most;
  gboolean pictures;
} Settings;

static void
clear (Settings *settings)
{
  g_free (settings->location);
  g_free (settings->keep);
  g_free (settings->key_file);
  g_free (settings->camera);
  g_free (settings->share);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Settings, clear)

/* (transfer none) (nullable): the model of the tracker before @element, as check_appearance() has
 * found it. @looks: whether that tracker has one. */
static const char *
find_model (GstElement *element, gboolean *looks)
{
  const char *hash = NULL;
  g_autofree char *appearance = NULL;
  GstElement *at = sl_check_upstream (element, FALSE);
  while (at != NULL && !sl_check_is (at, "sltrack"))
    sl_check_go_up (&at, FALSE);
  if (at != NULL) {
    hash = g_object_get_data (G_OBJECT (at), SL_CHECK_LOOKS);
    g_object_get (at, "appearance", &appearance, NULL);
  }
  *looks = appearance != NULL && *appearance != '\0';
  gst_clear_object (&at);
  return hash;
}

/* (transfer full): cameras that wrote the file. */
static char *
list_cameras (SlIdentityStore *store)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, NULL, "SELECT group_concat(DISTINCT camera) FROM sighting", "");
  const char *names =
    row != NULL && sl_sql_next (&store->sql, row, NULL) ? sl_sql_text (row, 0) : NULL;
  return names != NULL ? sl_printable (names, SL_PRINTABLE_MESSAGE) : g_strdup ("nobody");
}

static gint64
count_people (SlIdentityStore *store)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, NULL, "SELECT count(*) FROM person", "");
  return row != NULL && sl_sql_next (&store->sql, row, NULL) ? sqlite3_column_int64 (row, 0) : 0;
}

/* (transfer full) (nullable): what is in the file; NULL: a problem was found. */
static char *
describe_file (GstElement *element, const Settings *settings, const char *model, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlIdentityStore) store =
    sl_identity_store_look (settings->location, settings->key_file, &error);
  if (store == NULL
      || (model != NULL && !sl_identity_store_check_model (store, model, store->length, &error))) {
    PROBLEM ("%s", error->message);
    return NULL;
  }
  if (settings->key_file == NULL && sl_identity_store_is_sealed (store)) {
    PROBLEM (SL_IDENTITY_NEEDS_KEY, settings->location);
    return NULL;
  }
  g_autofree char *cameras = list_cameras (store);
  return g_strdup_printf ("%" G_GINT64_FORMAT " people in it, written by %s; embeddings of %u "
                          "numbers of model %s",
                          count_people (store), cameras, store->length, store->model);
}

/* Likewise, of a file that is made at the start. */
static char *
describe_place (GstElement *element, const Settings *settings, const char *model, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_path_get_dirname (settings->location);
  if (settings->key_file != NULL)
    sl_seal_free (sl_seal_new (settings->key_file, &error));
  if (error != NULL)
    PROBLEM ("%s", error->message);
  else if (g_access (folder, W_OK | X_OK) != 0)
    PROBLEM ("%s: %s; expected a folder in which the file of a gallery can be made", folder,
             g_strerror (errno));
  else
    return g_strdup_printf ("made at the start; embeddings of model %s",
                            model != NULL ? model : "(unknown)");
  return NULL;
}

void
sl_check_gallery (GstElement *element, GArray *findings)
{
  g_auto (Settings) settings = { NULL };
  g_object_get (element, "location", &settings.location, "keep", &settings.keep, "key-file",
                &settings.key_file, "camera", &settings.camera, "share", &settings.share, "most",
                &settings.most, "pictures", &settings.pictures, NULL);
  gboolean looks;
  const char *model = find_model (element, &looks);
  if (!looks)
    PROBLEM ("gets no embeddings; expected sltrack appearance=MODEL before it");
  const gboolean there = g_file_test (settings.location, G_FILE_TEST_EXISTS);
  g_autofree char *file =
    (there ? describe_file : describe_place) (element, &settings, model, findings);
  if (file == NULL)
    return;
  sl_findings_add (findings, SL_FINDING_FACT, GST_OBJECT_NAME (element),
                   "%s: %s; kept for %s, at most %d people%s; %s; camera %s writes it",
                   settings.location, file, settings.keep, settings.most,
                   settings.pictures ? ", with a picture of each" : "",
                   settings.key_file != NULL ? "encrypted" : "not encrypted",
                   settings.camera != NULL ? settings.camera : "(the name of the pipeline)");
  if (settings.share != NULL)
    sl_findings_add (findings, SL_FINDING_FACT, GST_OBJECT_NAME (element),
                     "embeddings of people leave this machine, %s, to %s",
                     settings.key_file != NULL ? "encrypted" : "not encrypted", settings.share);
}
