/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/gallery/listing.h"

#include <stdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/utc.h"

#define DIGITS 4

static void
append_time (GString *out, const char *key, gint64 us)
{
  sl_json_append_key (out, key);
  g_string_append_c (out, '"');
  sl_utc_append (out, us);
  g_string_append_c (out, '"');
}

/* "gate,hall" as a list of JSON; names have no commas. */
static void
append_cameras (GString *out, const char *names)
{
  g_auto (GStrv) cameras = g_strsplit (names != NULL ? names : "", ",", -1);
  sl_json_append_key (out, "cameras");
  g_string_append_c (out, '[');
  for (guint i = 0; cameras[i] != NULL; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    sl_json_append_string (out, cameras[i]);
  }
  g_string_append_c (out, ']');
}

/* What two kinds of rows share: times, and how sure the last of them is. */
static void
append_span (GString *out, sqlite3_stmt *row, gboolean json)
{
  const gint64 first = sqlite3_column_int64 (row, 1), last = sqlite3_column_int64 (row, 2);
  const double confidence = sqlite3_column_double (row, 3);
  if (json) {
    append_time (out, "first", first);
    append_time (out, "last", last);
    sl_json_append_number (out, "confidence", confidence, DIGITS);
    return;
  }
  sl_utc_append (out, first);
  g_string_append_c (out, ' ');
  sl_utc_append (out, last);
  sl_json_append_printf (out, " %.2f ", confidence);
}

static void
append_id (GString *out, guint64 id, const char *name)
{
  sl_json_append_count (out, "id", id);
  if (name != NULL)
    sl_json_append_text (out, "name", name);
}

/* @row: person, first, last, confidence, cameras, sightings, views */
static void
print_person (SlIdentityStore *store, sqlite3_stmt *row, gboolean json)
{
  g_autoptr (GString) out = g_string_new (json ? "{" : NULL);
  const char *cameras = sl_sql_text (row, 4);
  const guint64 id = (guint64) sqlite3_column_int64 (row, 0);
  g_autofree char *name = sl_identity_store_name (store, (gint64) id);
  if (json)
    append_id (out, id, name);
  else
    sl_json_append_printf (out, "%" G_GUINT64_FORMAT " ", id);
  append_span (out, row, json);
  if (json) {
    append_cameras (out, cameras);
    sl_json_append_count (out, "sightings", (guint64) sqlite3_column_int64 (row, 5));
    sl_json_append_count (out, "views", (guint64) sqlite3_column_int64 (row, 6));
    g_string_append_c (out, '}');
  } else {
    g_autofree char *shown = sl_printable (cameras != NULL ? cameras : "", SL_PRINTABLE_MESSAGE);
    g_string_append_printf (out, "%s%s%s", shown, name != NULL ? " " : "",
                            name != NULL ? name : "");
  }
  puts (out->str);
}

/* Whether the last row was read, and not an error. */
static gboolean
is_end (GError *cause, GError **error)
{
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, cause);
  return FALSE;
}

gboolean
sl_gallery_print_list (SlIdentityStore *store, const SlGalleryFilter *filter, gboolean json,
                       guint *n, GError **error)
{
  GError *cause = NULL;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT id, min(first), max(last) AS latest, (SELECT confidence FROM sighting WHERE person = "
    "id ORDER BY last DESC LIMIT 1), group_concat(DISTINCT camera), "
    "count(*), (SELECT count(*) FROM view WHERE person = id) FROM person JOIN sighting ON person = "
    "id GROUP BY id HAVING latest >= ?1 AND (?2 IS NULL OR sum(camera = ?2) > 0) ORDER BY latest "
    "DESC, id DESC LIMIT ?3",
    "isi", filter->since, filter->camera, (gint64) filter->limit);
  *n = 0;
  if (row == NULL)
    return FALSE;
  for (; sl_sql_next (&store->sql, row, &cause); ++*n)
    print_person (store, row, json);
  return is_end (cause, error);
}

/* @row: camera, first, last, confidence, cosine */
static void
append_sighting (GString *out, sqlite3_stmt *row, gboolean json)
{
  const char *camera = sl_sql_text (row, 0);
  const double cosine = sqlite3_column_double (row, 4);
  g_autofree char *shown = sl_printable (camera != NULL ? camera : "", SL_PRINTABLE_NAME);
  if (json) {
    g_string_append (out, out->str[out->len - 1] == '[' ? "{" : ",{");
    sl_json_append_text (out, "camera", camera);
  }
  append_span (out, row, json);
  if (json && cosine >= 0)
    sl_json_append_number (out, "cosine", cosine, DIGITS);
  if (json)
    g_string_append_c (out, '}');
  else
    g_string_append_printf (out, "%s\n", shown);
}

/* Where and when the picture of @person was taken, if there is one. */
static void
append_picture (GString *out, SlIdentityStore *store, gint64 person, gboolean json)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, NULL, "SELECT camera, time, score FROM picture WHERE person = ?", "i", person);
  if (row == NULL || !sl_sql_next (&store->sql, row, NULL))
    return;
  const char *camera = sl_sql_text (row, 0);
  const gint64 time = sqlite3_column_int64 (row, 1);
  g_autofree char *shown = sl_printable (camera != NULL ? camera : "", SL_PRINTABLE_NAME);
  if (json) {
    sl_json_append_key (out, "picture");
    g_string_append_c (out, '{');
    sl_json_append_text (out, "camera", camera);
    append_time (out, "time", time);
    sl_json_append_number (out, "score", sqlite3_column_double (row, 2), DIGITS);
    g_string_append_c (out, '}');
    return;
  }
  g_string_append (out, "picture: ");
  sl_utc_append (out, time);
  g_string_append_printf (out, " %s\n", shown);
}

static gboolean
append_sightings (GString *out, SlIdentityStore *store, gint64 person, gboolean json,
                  GError **error)
{
  GError *cause = NULL;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT camera, first, last, confidence, cosine FROM sighting WHERE person = ? ORDER BY first",
    "i", person);
  if (row == NULL)
    return FALSE;
  while (sl_sql_next (&store->sql, row, &cause))
    append_sighting (out, row, json);
  return is_end (cause, error);
}

/* Of all views of @person, what is most like somebody else. */
static SlIdentityMatch
find_alike (const SlIdentityTable *table, const SlCalibration *evidence,
            const SlIdentityRules *rules, gint64 person)
{
  SlIdentityMatch alike = { .best_confidence = -1 };
  for (gsize i = 0; i < table->n; i++) {
    if (table->views[i].person != person)
      continue;
    const SlIdentityQuestion question = { .camera = table->views[i].camera,
                                          .row = table->numbers + i * table->stride,
                                          .scale = table->scales[i],
                                          .held = &person,
                                          .n_held = 1 };
    const SlIdentityMatch match = sl_identity_table_match (table, evidence, rules, &question);
    if (match.best_confidence > alike.best_confidence)
      alike = match;
  }
  return alike;
}

static void
append_match (GString *out, const SlIdentityMatch *alike, gboolean json)
{
  if (json) {
    sl_json_append_key (out, "alike");
    g_string_append_c (out, '{');
    sl_json_append_count (out, "id", (guint64) alike->best);
    sl_json_append_number (out, "cosine", alike->cosine, DIGITS);
    sl_json_append_number (out, "confidence", alike->best_confidence, DIGITS);
    sl_json_append_boolean (out, "calibrated", alike->is_calibrated);
    g_string_append_c (out, '}');
    return;
  }
  g_string_append_printf (out, "most alike: %" G_GINT64_FORMAT ", cosine %.2f, confidence %.2f%s\n",
                          alike->best, alike->cosine, alike->best_confidence,
                          alike->is_calibrated ? "" : " (not calibrated)");
}

static gboolean
append_alike (GString *out, SlIdentityStore *store, gint64 person, gboolean json, GError **error)
{
  const SlIdentityRules rules = { store->rules.keep, store->rules.most, SL_IDENTITY_THRESHOLD,
                                  SL_IDENTITY_MARGIN };
  g_autofree SlCalibration *evidence = g_new0 (SlCalibration, 1);
  SlIdentityCameras cameras;
  sl_identity_cameras_init (&cameras);
  g_autoptr (SlIdentityTable) table =
    sl_identity_store_load (store, &cameras, g_get_real_time (), error);
  const gboolean good =
    table != NULL && sl_identity_store_read_evidence (store, &cameras, evidence, error);
  if (good) {
    const SlIdentityMatch alike = find_alike (table, evidence, &rules, person);
    if (alike.best != 0)
      append_match (out, &alike, json);
  }
  sl_identity_cameras_clear (&cameras);
  return good;
}

gboolean
sl_gallery_print_person (SlIdentityStore *store, gint64 person, gboolean json, GError **error)
{
  g_autoptr (GString) out = g_string_new (json ? "{" : NULL);
  if (!sl_identity_store_check_person (store, person, error))
    return FALSE;
  g_autofree char *name = sl_identity_store_name (store, person);
  if (json) {
    append_id (out, (guint64) person, name);
    sl_json_append_key (out, "sightings");
    g_string_append_c (out, '[');
  } else if (name != NULL) {
    g_string_append_printf (out, "%s\n", name);
  }
  if (!append_sightings (out, store, person, json, error))
    return FALSE;
  if (json)
    g_string_append_c (out, ']');
  append_picture (out, store, person, json);
  if ((store->seal != NULL || !sl_identity_store_is_sealed (store))
      && !append_alike (out, store, person, json, error))
    return FALSE;
  fputs (out->str, stdout);
  if (json)
    puts ("}");
  return TRUE;
}
