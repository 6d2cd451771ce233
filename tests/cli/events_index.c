/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of events without a program around it: notes of any origin, colours, rows that take the
 * place of others, pages over several folders, damaged files, and a history that adds up.
 */
#include "config.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/folders.h"
#include "tools/run/events/charts.h"
#include "tools/run/events/colors.h"
#include "tools/run/events/folder.h"
#include "tools/run/events/query.h"
#include "tools/run/events/scan.h"
#include "tools/run/worker.h"

#define STEM "door-2026-11-20T10-00-00.000Z-in"
#define OTHER "door-2026-11-20T11-00-00.000Z-out"
#define HOUR (3600 * (gint64) G_USEC_PER_SEC)

/* What a report is made of, which no test here makes. */
SlFlow *
sl_worker_flow (SlWorker *worker)
{
  g_assert_not_reached ();
}

GstElement *
sl_worker_pipeline (const SlWorker *worker)
{
  g_assert_not_reached ();
}

const char *
sl_worker_name (const SlWorker *worker)
{
  g_assert_not_reached ();
}

const SlDescription *
sl_worker_description (const SlWorker *worker)
{
  g_assert_not_reached ();
}

SlWorkerState
sl_worker_state (const SlWorker *worker)
{
  g_assert_not_reached ();
}

guint
sl_worker_restarts (const SlWorker *worker)
{
  g_assert_not_reached ();
}

void
sl_worker_totals (const SlWorker *worker, SlWorkerTotals *totals)
{
  g_assert_not_reached ();
}

static void
put_file (const char *folder, const char *stem, const char *ending, const char *text)
{
  g_autofree char *name = g_strconcat (stem, ending, NULL),
                  *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
test_notes (void)
{
  static const char json[] =
    "{\"clip\":\"x\",\"picture\":null,\"event\":\"in\",\"at\":2,\"seconds\":6.5,\"frames\":3,"
    "\"width\":64,\"height\":48,\"format\":\"video/x-h264\",\"events\":[{\"at\":2,"
    "\"what\":{\"event\":\"in\",\"line\":\"way\",\"id\":4,\"label\":\"Car\"}},{\"at\":3,"
    "\"what\":{\"event\":\"entered\",\"zone\":\"yard\",\"id\":5,\"label\":null}}],"
    "\"predictions\":{\"objects\":[{\"id\":3,\"detection\":{\"bounding_box\":{\"x_min\":0,"
    "\"y_min\":0,\"x_max\":1,\"y_max\":1},\"confidence\":0.5,\"label\":\"dog\"}},"
    "{\"detection\":{\"bounding_box\":{\"x_min\":0.25,\"y_min\":0.5,\"x_max\":0.5,\"y_max\":1},"
    "\"confidence\":0.75,\"label\":\"Car\"},\"id\":4,\"code\":{\"text\":\"AB "
    "12\"},\"text\":{\"text\":\"XY7\",\"votes\":3}}]},\"trail\":[[[broken";
  g_auto (SlNotes) notes;
  sl_notes_init (&notes);
  g_assert_true (sl_notes_read (&notes, json, strlen (json), NULL));
  g_assert_cmpstr (notes.event, ==, "in");
  g_assert_cmpstr (notes.region, ==, "way");
  g_assert_cmpstr (notes.label, ==, "Car");
  g_assert_cmpint (notes.object, ==, 4);
  g_assert_cmpfloat (notes.confidence, ==, 0.75);
  g_assert_cmpfloat (notes.box[0], ==, 0.25);
  g_assert_cmpfloat (notes.box[3], ==, 0.5);
  g_assert_cmpuint (notes.words->len, ==, 5);
  g_assert_cmpstr (notes.text->str, ==, "in\nway\ncar\nentered\nyard\ndog\nab 12\nxy7\n");
  g_assert_cmpuint (notes.objects->len, ==, 2);
  const SlNotesObject *dog = &g_array_index (notes.objects, SlNotesObject, 0), *car = dog + 1;
  g_assert_cmpstr (dog->label, ==, "dog");
  g_assert_false (dog->is_event);
  g_assert_cmpfloat (dog->box[2], ==, 1);
  g_assert_cmpstr (car->label, ==, "Car");
  g_assert_true (car->is_event);
  g_assert_cmpmem (car->box, sizeof car->box, notes.box, sizeof notes.box);
}

/* The event's object is remembered, wherever it stands. */
static void
test_many_objects (void)
{
  GString *many = g_string_new (
    "{\"event\":\"in\",\"events\":[{\"what\":{\"id\":40}}],\"predictions\":{\"objects\":[");
  for (guint i = 1; i <= 50; i++)
    g_string_append_printf (
      many,
      "%s{\"id\":%u,\"detection\":{\"label\":\"o%u\",\"bounding_box\":{\"x_min\":0,"
      "\"y_min\":0,\"x_max\":%s,\"y_max\":1}}}",
      i > 1 ? "," : "", i, i, i == 2 ? "0" : "1");
  g_string_append (many, "]}}");
  g_auto (SlNotes) notes;
  sl_notes_init (&notes);
  g_assert_true (sl_notes_read (&notes, many->str, many->len, NULL));
  g_assert_cmpuint (notes.objects->len, ==, SL_NOTES_OBJECTS);
  g_assert_cmpstr (g_array_index (notes.objects, SlNotesObject, 1).label, ==, "o3"); /* 2 is flat */
  const SlNotesObject *own = &g_array_index (notes.objects, SlNotesObject, SL_NOTES_OBJECTS - 1);
  g_assert_cmpstr (own->label, ==, "o40");
  g_assert_true (own->is_event);
  g_string_free (many, TRUE);
}

/* Whatever is in them, what is kept is bounded and plain. */
static void
test_hostile_notes (void)
{
  GString *many =
    g_string_new ("{\"event\":5,\"seconds\":1e300,\"at\":\"x\",\"frames\":-4,\"events\":[");
  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (many, "%s{\"what\":{\"zone\":\"\\u001b[31m%u\",\"id\":1e300}}",
                            i > 0 ? "," : "", i);
  g_string_append (many, "]}");
  g_auto (SlNotes) notes;
  sl_notes_init (&notes);
  sl_notes_read (&notes, many->str, many->len, NULL);
  g_assert_cmpuint (notes.words->len, ==, SL_NOTES_WORDS);
  g_assert_cmpuint (notes.text->len, <=, SL_NOTES_TEXT);
  g_assert_null (strchr (notes.text->str, '\033'));
  g_assert_cmpint (notes.frames, ==, 0);
  for (gsize length = 0; length < 300; length++) {
    g_auto (SlNotes) cut;
    g_autofree char *part = g_strndup (many->str, length);
    g_autoptr (GError) error = NULL;
    sl_notes_init (&cut);
    g_assert_false (sl_notes_read (&cut, part, length, &error));
    g_assert_nonnull (error);
  }
  g_string_free (many, TRUE);
}

static void
test_colors (void)
{
  static const struct
  {
    guint8 pixel[3];
    const char *name;
  } rows[] = { { { 200, 20, 20 }, "red" },     { { 20, 20, 20 }, "black" },
               { { 250, 250, 245 }, "white" }, { { 120, 120, 125 }, "gray" },
               { { 240, 140, 20 }, "orange" }, { { 235, 220, 40 }, "yellow" },
               { { 30, 140, 50 }, "green" },   { { 30, 60, 200 }, "blue" },
               { { 130, 40, 160 }, "purple" }, { { 250, 150, 190 }, "pink" },
               { { 110, 70, 30 }, "brown" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpstr (sl_color_of_pixels (rows[i].pixel, 1), ==, rows[i].name);
  const guint8 mixed[] = { 200, 20, 20, 30, 60, 200, 30, 60, 200 };
  g_assert_cmpstr (sl_color_of_pixels (mixed, 3), ==, "blue");
}

static void
test_damaged_picture (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static ("no picture", 10);
  g_autoptr (GError) error = NULL, small = NULL;
  const gdouble box[4] = { 0, 0, 1, 1 };
  g_assert_null (sl_color_of (bytes, box, &error));
  g_assert_nonnull (strstr (error->message, "JPEG"));
  g_assert_null (sl_thumbnail (bytes, &small));
  g_assert_nonnull (small);
}

static SlStore *
open_store (const char *folder)
{
  g_autofree char *damaged = NULL;
  GError *error = NULL;
  SlStore *store = sl_store_new (folder, &damaged, &error);
  g_assert_no_error (error);
  return store;
}

static GPtrArray *
list_of (SlStore *first, SlStore *second, const SlEventQuery *query, guint64 *total)
{
  g_autoptr (GPtrArray) stores = g_ptr_array_new ();
  GError *error = NULL;
  g_ptr_array_add (stores, first);
  if (second != NULL)
    g_ptr_array_add (stores, second);
  GPtrArray *rows = sl_event_query_list (query, stores, total, &error);
  g_assert_no_error (error);
  return rows;
}

static void
add_bare (SlStore *store, gint64 us, const char *event, const char *region)
{
  g_auto (SlNotes) notes;
  sl_notes_init (&notes);
  notes.us = us;
  sl_notes_add_word (&notes, SL_WORD_EVENT, event);
  sl_notes_add_word (&notes, SL_WORD_REGION, region);
  g_assert_true (sl_store_add_event (store, "door", &notes, NULL));
}

/* @found: (nullable): what is found by the name @stem */
static gboolean
is_found_as (SlStore *store, const char *stem, const char *found)
{
  g_autoptr (GPtrArray) stores = g_ptr_array_new ();
  g_ptr_array_add (stores, store);
  SlEventRow *row = sl_event_query_one (stores, stem, NULL);
  const gboolean is = g_strcmp0 (row != NULL ? row->stem : NULL, found) == 0;
  g_clear_pointer (&row, sl_event_row_free);
  return is;
}

/* The clip takes the place of the event that it shows, and of no other one. */
static void
test_merge (void)
{
  g_autoptr (SlStore) store = open_store (NULL);
  const SlEventQuery query = { .kept = -1, .reviewed = -1, .limit = 10 };
  const SlStoreClip clip = { .stem = STEM, .pipeline = "door", .bytes = 10, .color = "" };
  g_auto (SlNotes) notes;
  guint64 total;
  add_bare (store, 100 * (gint64) G_USEC_PER_SEC, "in", "way");
  add_bare (store, 100 * (gint64) G_USEC_PER_SEC, "left", "yard");
  add_bare (store, 500 * (gint64) G_USEC_PER_SEC, "in", "way");
  sl_notes_init (&notes);
  notes.us = 101 * (gint64) G_USEC_PER_SEC;
  notes.at = 5;
  notes.seconds = 10;
  sl_notes_add_word (&notes, SL_WORD_EVENT, "in");
  g_assert_true (sl_store_add_clip (store, &clip, &notes, NULL));
  g_assert_true (sl_store_add_clip (store, &clip, &notes, NULL));
  g_autoptr (GPtrArray) rows = list_of (store, NULL, &query, &total);
  g_assert_cmpuint (total, ==, 3);
  g_assert_cmpstr (((SlEventRow *) rows->pdata[1])->stem, ==, STEM);
  g_assert_cmpstr (((SlEventRow *) rows->pdata[2])->event, ==, "left");
  g_assert_true (is_found_as (store, "~door-1970-01-01T00-01-40.000Z-in", STEM));
  g_assert_false (sl_store_has (store, "~door-1970-01-01T00-01-40.000Z-in"));
  g_assert_true (sl_store_has (store, STEM));
  g_assert_true (is_found_as (store, "~door-1970-01-01T00-01-40.000Z-left",
                              "~door-1970-01-01T00-01-40.000Z-left"));
  g_assert_true (sl_store_remove (store, STEM, NULL));
  g_assert_true (is_found_as (store, "~door-1970-01-01T00-01-40.000Z-in", NULL));
  g_assert_true (sl_store_expire (store, 600 * (gint64) G_USEC_PER_SEC, NULL));
  g_autoptr (sqlite3_stmt) covered =
    sl_sql_query (&store->write, NULL, "SELECT count(*) FROM covered", "");
  g_assert_true (sl_sql_next (&store->write, covered, NULL));
  g_assert_cmpint (sqlite3_column_int (covered, 0), ==, 0);
  g_autoptr (sqlite3_stmt) words = sl_sql_query (
    &store->write, NULL, "SELECT count(*) FROM word WHERE kind = 0 AND text = 'in'", "");
  g_assert_true (sl_sql_next (&store->write, words, NULL));
  g_assert_cmpint (sqlite3_column_int (words, 0), ==, 1);
}

static void
mark_all (SlStore *store, const SlEventQuery *query)
{
  static const char *const users[] = { "third", "second", "first" };
  guint64 total;
  g_autoptr (GPtrArray) rows = list_of (store, NULL, query, &total); /* the newest first */
  g_assert_cmpuint (rows->len, ==, G_N_ELEMENTS (users));
  for (guint i = 0; i < rows->len; i++) {
    const SlEventRow *row = rows->pdata[i];
    g_assert_true (sl_store_set_review (store, row->stem, users[i], 7000 - i, NULL));
  }
}

/* The last mark of the events that a clip takes the place of is the clip's. */
static void
test_merge_review (void)
{
  g_autoptr (SlStore) store = open_store (NULL);
  const SlEventQuery query = { .kept = -1, .reviewed = -1, .limit = 10 };
  const SlStoreClip clip = { .stem = STEM, .pipeline = "door", .color = "" };
  g_auto (SlNotes) notes;
  g_autofree char *user = NULL;
  gint64 us = 0;
  guint64 total;
  add_bare (store, 100 * (gint64) G_USEC_PER_SEC, "in", "way");
  add_bare (store, 102 * (gint64) G_USEC_PER_SEC, "in", "way");
  add_bare (store, 500 * (gint64) G_USEC_PER_SEC, "in", "way"); /* not in the clip */
  mark_all (store, &query);
  sl_notes_init (&notes);
  notes.us = 100 * (gint64) G_USEC_PER_SEC;
  notes.seconds = 10;
  sl_notes_add_word (&notes, SL_WORD_EVENT, "in");
  g_assert_true (sl_store_add_clip (store, &clip, &notes, NULL));
  g_assert_true (sl_store_get_review (store, STEM, &user, &us, NULL));
  g_assert_cmpstr (user, ==, "second");
  g_assert_cmpint (us, ==, 6999);
  g_autoptr (GPtrArray) rows = list_of (store, NULL, &query, &total);
  g_assert_cmpuint (total, ==, 2);
  g_assert_cmpstr (((SlEventRow *) rows->pdata[0])->reviewer, ==, "third");
  g_assert_cmpstr (((SlEventRow *) rows->pdata[1])->reviewer, ==, "second");
}

/* An event of a clock that was ahead is in lists, and is not the last one for years. */
static void
test_future (void)
{
  g_autoptr (SlStore) store = open_store (NULL);
  const gint64 now = g_get_real_time ();
  add_bare (store, now + 1000 * HOUR, "in", "way");
  g_assert_null (sl_event_query_newest (store, "door"));
  add_bare (store, now, "out", "way");
  SlEventRow *row = sl_event_query_newest (store, "door");
  g_assert_cmpstr (row->event, ==, "out");
  sl_event_row_free (row);
}

/* Pages go over both folders, by time, and each event is on one of them. */
static void
test_pages (void)
{
  g_autoptr (SlStore) first = open_store (NULL), second = open_store (NULL);
  SlEventQuery query = { .kept = -1, .reviewed = -1, .limit = 7 };
  g_autofree char *before = NULL;
  guint64 total;
  gint64 last = G_MAXINT64;
  guint n = 0, page = 7;
  for (guint i = 0; i < 40; i++)
    add_bare (i % 3 == 0 ? first : second, (1000 + i / 2) * (gint64) G_USEC_PER_SEC,
              i % 3 == 0 ? "in" : "out", "way");
  while (page == 7) {
    g_autoptr (GPtrArray) rows = list_of (first, second, &query, &total);
    g_assert_cmpuint (total, ==, 40);
    page = rows->len;
    n += page;
    for (guint i = 0; i < page; i++) {
      const SlEventRow *row = rows->pdata[i];
      g_assert_cmpint (row->us, <=, last);
      last = row->us;
      g_free (before);
      before = g_strdup (row->stem);
    }
    query.before = before;
    query.before_us = last;
  }
  g_assert_cmpuint (n, ==, 40);
}

static int
interrupt (void *data)
{
  return 1;
}

/* An index that fails is an error, whatever the next one has. */
static void
test_failing (void)
{
  g_autoptr (SlStore) first = open_store (NULL), second = open_store (NULL);
  g_autoptr (GPtrArray) stores = g_ptr_array_new ();
  g_autoptr (GError) of_one = NULL, of_list = NULL;
  const SlEventQuery query = { .kept = -1, .reviewed = -1, .limit = 10 };
  const SlStoreClip clip = { .stem = STEM, .pipeline = "door", .bytes = 10, .color = "" };
  g_auto (SlNotes) notes;
  guint64 total;
  sl_notes_init (&notes);
  sl_notes_add_word (&notes, SL_WORD_EVENT, "in");
  g_assert_true (sl_store_add_clip (second, &clip, &notes, NULL));
  g_ptr_array_add (stores, first);
  g_ptr_array_add (stores, second);
  sqlite3_progress_handler (first->write.db, 1, interrupt, NULL);
  g_assert_null (sl_event_query_one (stores, STEM, &of_one));
  g_assert_cmpstr (of_one->message, ==, ":memory:: interrupted");
  g_assert_null (sl_event_query_list (&query, stores, &total, &of_list));
  g_assert_cmpstr (of_list->message, ==, ":memory:: interrupted");
}

/* Rows follow the files; what is damaged or has no notes is known by its name. */
static void
test_scan (void)
{
  char *folder = sl_test_folder_new ();
  g_autoptr (SlStore) store = open_store (folder);
  g_autoptr (GHashTable) pipelines = g_hash_table_new (g_str_hash, g_str_equal);
  const SlEventQuery query = { .kept = -1, .reviewed = -1, .limit = 10 };
  gint stop = 0;
  const SlScan scan = { pipelines, &stop };
  guint added, removed;
  guint64 total;
  g_hash_table_insert (pipelines, (gpointer) "door", (gpointer) "front door");
  put_file (folder, STEM, ".mkv", "video");
  put_file (folder, STEM, ".json", "{\"event\":\"in\",\"events\":[{\"what\":{\"line\":\"w");
  put_file (folder, OTHER, ".mkv", "video");
  put_file (folder, OTHER, ".keep", "");
  put_file (folder, "door-2026-11-20T12-00-00.000Z-in", ".json", "{}");
  put_file (folder, "holiday", ".mkv", "video");
  g_assert_true (sl_scan_folder (&scan, store, &added, &removed, NULL));
  g_assert_cmpuint (added, ==, 2);
  g_autoptr (GPtrArray) rows = list_of (store, NULL, &query, &total);
  const SlEventRow *row = rows->pdata[0];
  g_assert_cmpstr (row->stem, ==, OTHER);
  g_assert_cmpstr (row->pipeline, ==, "front door");
  g_assert_cmpstr (row->event, ==, "out");
  g_assert_true (row->kept);
  g_assert_cmpuint (row->bytes, ==, 5);
  g_autofree char *gone = g_build_filename (folder, STEM ".mkv", NULL);
  g_unlink (gone);
  g_assert_true (sl_scan_folder (&scan, store, &added, &removed, NULL));
  g_assert_cmpuint (removed, ==, 1);
  g_clear_pointer (&store, sl_store_unref);
  sl_test_folder_remove (folder);
}

/* No request reaches another file than a clip's. */
static void
test_names (void)
{
  char *folder = sl_test_folder_new ();
  static const struct
  {
    const char *before, *after;
  } strange[] = { { "", "/.." }, { "", ".mkv" }, { "~", "" },
                  { "../", "" }, { "a/", "" },   { "..", "" } };
  guint64 size;
  put_file (folder, STEM, ".mkv", "video");
  g_autofree char *link = g_build_filename (folder, OTHER ".mkv", NULL);
  g_assert_cmpint (symlink ("/etc/passwd", link), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (strange); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strconcat (strange[i].before, STEM, strange[i].after, NULL);
    g_assert_cmpint (sl_clip_file_open (folder, name, SL_CLIP_VIDEO, &size, &error), <, 0);
    g_assert_nonnull (strstr (error->message, "no name of a clip"));
    g_assert_null (sl_clip_files_of (folder, name));
  }
  g_autoptr (GError) error = NULL, missing = NULL, nowhere = NULL;
  g_assert_cmpint (sl_clip_file_open ("/nowhere", STEM, SL_CLIP_VIDEO, &size, &nowhere), <, 0);
  g_assert_cmpstr (nowhere->message, ==, "/nowhere: No such file or directory");
  g_assert_cmpint (sl_clip_file_open (folder, OTHER, SL_CLIP_VIDEO, &size, &error), <, 0);
  g_assert_null (sl_clip_files_of (folder, OTHER));
  g_assert_false (sl_clip_files_keep (folder, OTHER, TRUE, &missing));
  g_assert_cmpstr (missing->message, ==, OTHER ": the clip is gone");
  g_assert_true (sl_clip_files_keep (folder, STEM, TRUE, NULL));
  g_assert_true (sl_clip_files_delete (folder, STEM, NULL));
  g_autofree char *mark = g_build_filename (folder, STEM ".keep", NULL);
  g_assert_false (g_file_test (mark, G_FILE_TEST_EXISTS));
  sl_test_folder_remove (folder);
}

static void
test_damaged (void)
{
  char *folder = sl_test_folder_new ();
  g_autofree char *damaged = NULL, *path = g_build_filename (folder, SL_STORE_FILE, NULL),
                  *aside = g_build_filename (folder, SL_STORE_DAMAGED, NULL);
  g_autoptr (GError) error = NULL;
  struct stat status;
  put_file (folder, SL_STORE_FILE, "",
            "this is no database, and it is long enough to be looked at as one");
  SlStore *store = sl_store_new (folder, &damaged, &error);
  g_assert_no_error (error);
  g_assert_nonnull (strstr (damaged, "not a database"));
  g_assert_true (g_file_test (aside, G_FILE_TEST_EXISTS));
  sl_store_unref (store);
  g_unlink (path);
  sl_store_unref (open_store (folder));
  g_assert_cmpint (g_stat (path, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 07, ==, 0);
  sl_test_folder_remove (folder);
}

/* What another version has made is neither read nor put aside. */
static void
test_versions (void)
{
  char *folder = sl_test_folder_new ();
  g_autofree char *damaged = NULL, *aside = g_build_filename (folder, SL_STORE_DAMAGED, NULL);
  g_autoptr (GError) error = NULL;
  SlStore *store = open_store (folder);
  add_bare (store, HOUR, "in", "way");
  g_assert_true (sl_sql_script (&store->write, "PRAGMA user_version=7", NULL));
  sl_store_unref (store);
  g_assert_null (sl_store_new (folder, &damaged, &error));
  g_assert_nonnull (strstr (error->message, SL_STORE_FILE
                            ": an index of version 7, which another sightline has made: "
                            "expected version 1; run that program again, or move the file "
                            "away, which loses counts and events without a clip"));
  g_assert_null (damaged);
  g_assert_false (g_file_test (aside, G_FILE_TEST_EXISTS));
  sl_test_folder_remove (folder);
}

static gint
date_of (gint64 us)
{
  const time_t seconds = (time_t) (us / G_USEC_PER_SEC);
  struct tm local;
  localtime_r (&seconds, &local);
  return (local.tm_year + 1900) * 10000 + (local.tm_mon + 1) * 100 + local.tm_mday;
}

/* Dates are those that the C library gives, also of days of 23, 24.5 and 25 hours, without a
 * midnight, and of a date that is left out. */
static void
test_zones (void)
{
  static const struct
  {
    const char *name;
    gint64 near; /* seconds: a change of clocks */
  } zones[] = { { "Europe/Berlin", 1774746000 },       { "Europe/Berlin", 1792890000 },
                { "America/New_York", 1762063200 },    { "Asia/Kolkata", 1774746000 },
                { "America/Sao_Paulo", 1541300400 },   { "Africa/Cairo", 1698267600 },
                { "Australia/Lord_Howe", 1743865200 }, { "Pacific/Apia", 1325239200 },
                { "America/St_Johns", 1762059600 },    { "UTC", 0 } };
  g_autofree char *before = g_strdup (g_getenv ("TZ"));
  for (guint i = 0; i < G_N_ELEMENTS (zones); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GTimeZone) zone = sl_buckets_zone (zones[i].name, &error);
    if (zone == NULL)
      continue; /* without tzdata */
    g_auto (SlBuckets) days, hours;
    sl_buckets_init (&days, SL_BUCKET_DAY, zone);
    sl_buckets_init (&hours, SL_BUCKET_HOUR, zone);
    g_setenv ("TZ", zones[i].name, TRUE);
    tzset ();
    for (gint64 us = zones[i].near * G_USEC_PER_SEC - 50 * HOUR, end = us + 100 * HOUR; us < end;
         us += HOUR / 4) {
      const gint64 from = sl_buckets_find (&days, us), hour = sl_buckets_find (&hours, us);
      g_assert_cmpint (from, <=, us);
      g_assert_cmpint (date_of (from), ==, date_of (us));
      g_assert_cmpint (date_of (from - 1000000), <, date_of (us));
      g_assert_cmpint (hour, <=, us);
      g_assert_cmpint (us - hour, <, HOUR);
    }
  }
  if (before != NULL)
    g_setenv ("TZ", before, TRUE);
  else
    g_unsetenv ("TZ");
  tzset ();
}

static void
test_strange_zones (void)
{
  g_autofree char *many = g_strnfill (70, 'A');
  const char *const names[] = {
    "",       "Mars/Base",   "../zoneinfo/UTC", "/etc/localtime", "Euro\xffpe", ":/etc/localtime",
    "Europe", "leapseconds", "+VERSION",        "Etc/../UTC",     many
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    g_test_message ("%s", names[i]);
    g_assert_null (sl_buckets_zone (names[i], &error));
    g_assert_true (g_str_has_suffix (
      error->message, ": no time zone that this machine knows: expected a name such as "
                      "Europe/Berlin (Debian: tzdata) or an offset such as +05:30"));
  }
  g_auto (SlBuckets) days;
  g_autoptr (GTimeZone) zone = sl_buckets_zone ("+05:30", NULL);
  sl_buckets_init (&days, SL_BUCKET_DAY, zone);
  g_assert_cmpint (sl_buckets_find (&days, 48 * HOUR), ==, 48 * HOUR - 11 * HOUR / 2);
  g_assert_cmpint (sl_buckets_find (&days, G_MAXINT64), <, G_MAXINT64);
  g_assert_cmpint (sl_buckets_find (&days, G_MININT64), >, G_MININT64);
}

/* An event every quarter of an hour: a day in spring has 92, one in autumn 100. */
static void
test_timeline (void)
{
  static const struct
  {
    gint64 midnight;
    guint count;
  } days[] = { { 1774738800, 92 }, { 1792879200, 100 } };
  g_autoptr (GTimeZone) zone = sl_buckets_zone ("Europe/Berlin", NULL);
  if (zone == NULL) {
    g_test_skip ("no tzdata");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (days); i++) {
    g_autoptr (SlStore) store = open_store (NULL);
    g_autoptr (GPtrArray) stores = g_ptr_array_new ();
    const gint64 first = days[i].midnight * G_USEC_PER_SEC;
    const SlEventQuery query = {
      .kept = -1, .reviewed = -1, .from = first - 24 * HOUR, .to = first + 60 * HOUR
    };
    g_auto (SlBuckets) buckets;
    g_ptr_array_add (stores, store);
    for (gint64 us = first - 24 * HOUR; us < first + 60 * HOUR; us += HOUR / 4)
      add_bare (store, us, "in", "way");
    sl_buckets_init (&buckets, SL_BUCKET_DAY, zone);
    g_autoptr (GArray) found = sl_event_query_timeline (&query, stores, &buckets, NULL);
    const SlEventBucket *bucket = &g_array_index (found, SlEventBucket, 1);
    g_assert_cmpint (bucket->from, ==, first);
    g_assert_cmpuint (bucket->count, ==, days[i].count);
    g_assert_cmpuint (bucket[-1].count, ==, 96);
    g_assert_cmpint (bucket[1].from, ==, first + days[i].count * (HOUR / 4));
    /* A person enters in each hour. */
    for (gint64 us = first - 24 * HOUR; us < first + 60 * HOUR; us += HOUR)
      g_assert_true (sl_sql_do (&store->write, NULL,
                                "INSERT INTO count VALUES ('door', 3600, ?, 'zone', 'yard', 1, 0, "
                                "0, 0, 0)",
                                "i", us));
    const SlChartQuery chart = { NULL, query.from, query.to, &buckets };
    g_autoptr (GArray) counts = sl_chart_counts (&chart, stores, NULL);
    const SlChartCount *count = &g_array_index (counts, SlChartCount, 1);
    g_assert_cmpint (count->from, ==, first);
    g_assert_cmpint (count->entered, ==, days[i].count / 4);
    g_assert_cmpint (count[-1].entered, ==, 24);
  }
}

static SlReportPipeline
report_of (guint64 entered, guint64 left, guint inside, gint64 since, GArray *regions)
{
  const SlReportPipeline report = { .name = (char *) "door", .regions = regions };
  GValue list = G_VALUE_INIT, item = G_VALUE_INIT;
  g_array_set_size (regions, 1);
  SlReportRegions *of = &g_array_index (regions, SlReportRegions, 0);
  g_clear_pointer (&of->counts, gst_structure_free);
  GstStructure *zone =
    gst_structure_new ("zone", "name", G_TYPE_STRING, "yard", "inside", G_TYPE_UINT, inside,
                       "entered", G_TYPE_UINT64, entered, "left", G_TYPE_UINT64, left, NULL);
  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&item, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&item, zone);
  gst_value_list_append_and_take_value (&list, &item);
  of->counts = gst_structure_new ("counts", "since", G_TYPE_INT64, since, NULL);
  gst_structure_take_value (of->counts, "regions", &list);
  return report;
}

static void
write_rows (SlStore *store, SlHistory *history)
{
  g_autoptr (GError) error = NULL;
  SlHistoryRows *rows = sl_history_flush (history, g_get_real_time (), TRUE);
  g_assert_nonnull (rows);
  sl_history_write (store, rows, &error);
  g_assert_no_error (error);
  sl_history_rows_free (rows);
}

/* What was counted before this process began is not counted again, and what began again is. */
static void
test_history (void)
{
  g_autoptr (SlStore) store = open_store (NULL);
  g_autoptr (GPtrArray) stores = g_ptr_array_new ();
  g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (SlReportRegions));
  const gint64 now = g_get_real_time ();
  SlHistory *history = sl_history_new ("door", now);
  static const guint64 steps[][3] = { { 10, 7, 3 }, { 12, 8, 4 }, { 1, 0, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const SlReportPipeline report =
      report_of (steps[i][0], steps[i][1], (guint) steps[i][2], now - HOUR, regions);
    sl_history_take (history, &report);
    sl_history_dwell (history, "yard", 3.0 * (i + 1));
    write_rows (store, history);
  }
  g_ptr_array_add (stores, store);
  g_auto (SlBuckets) days;
  sl_buckets_init (&days, SL_BUCKET_DAY, NULL);
  const SlChartQuery query = { NULL, now - HOUR, now + HOUR, &days };
  g_autoptr (GArray) counts = sl_chart_counts (&query, stores, NULL),
                     dwells = sl_chart_dwells (&query, stores, NULL);
  gint64 entered = 0, left = 0, most = 0;
  gdouble dwell = 0;
  for (guint i = 0; i < counts->len; i++) { /* two where an hour or a day ends meanwhile */
    const SlChartCount *count = &g_array_index (counts, SlChartCount, i);
    entered += count->entered;
    left += count->left;
    most = MAX (most, count->most);
    dwell += count->dwell;
  }
  g_assert_cmpint (entered, ==, 3);
  g_assert_cmpint (left, ==, 1);
  g_assert_cmpint (most, ==, 4);
  g_assert_cmpfloat (dwell, ==, 18);
  const SlChartDwells *classes = &g_array_index (dwells, SlChartDwells, 0);
  g_assert_cmpint (classes->n[2], ==, 1);
  g_assert_cmpint (classes->n[3], ==, 2);
  sl_history_free (history);
  gst_structure_free (g_array_index (regions, SlReportRegions, 0).counts);
}

static gint64
rows_of (SlStore *store, const char *table)
{
  g_autofree char *text = g_strdup_printf ("SELECT count(*) FROM %s", table);
  g_autoptr (sqlite3_stmt) rows = sl_sql_query (&store->write, NULL, text, "");
  g_assert_true (sl_sql_next (&store->write, rows, NULL));
  return sqlite3_column_int64 (rows, 0);
}

static void
test_retention (void)
{
  g_autoptr (SlStore) store = open_store (NULL);
  const gint64 day = 24 * HOUR, now = 1000 * day;
  static const gint days[] = { 1, 15, 399, 401 };
  for (guint i = 0; i < G_N_ELEMENTS (days); i++) {
    g_autofree char *insert = g_strdup_printf (
      "INSERT INTO count VALUES ('a', 60, %" G_GINT64_FORMAT ", 'zone', 'b', 1, 1, 1, 1, 1), ('a', "
      "3600, %" G_GINT64_FORMAT ", 'zone', 'b', 1, 1, 1, 1, 1)",
      now - days[i] * day, now - days[i] * day);
    g_assert_true (sl_sql_script (&store->write, insert, NULL));
    add_bare (store, now - days[i] * day, "in", "way");
  }
  g_assert_true (sl_store_expire (store, now, NULL));
  g_assert_cmpint (rows_of (store, "count"), ==, 4);
  g_assert_cmpint (rows_of (store, "event"), ==, 3);
}

/* A machine that starts with a clock of another century loses nothing. */
static void
test_clock (void)
{
  char *folder = sl_test_folder_new ();
  const gint64 day = 24 * HOUR, now = 20000 * day;
  SlStore *store = open_store (folder);
  add_bare (store, now, "in", "way");
  add_bare (store, now - 390 * day, "in", "way");
  g_assert_true (sl_store_expire (store, now, NULL));
  g_assert_cmpint (rows_of (store, "event"), ==, 2);
  sl_store_unref (store);
  store = open_store (folder);
  g_assert_true (sl_store_expire (store, now + 40000 * day, NULL));
  g_assert_cmpint (rows_of (store, "event"), ==, 1); /* 390 and 60 days are more than 400 */
  g_assert_true (sl_store_expire (store, 0, NULL));
  g_assert_cmpint (rows_of (store, "event"), ==, 1);
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

/* What was counted before a clock went back is written at once. */
static void
test_clock_back (void)
{
  g_autoptr (GArray) regions = g_array_new (FALSE, TRUE, sizeof (SlReportRegions));
  SlHistory *history = sl_history_new ("door", g_get_real_time ());
  const SlReportPipeline report = report_of (1, 0, 1, g_get_real_time (), regions);
  sl_history_take (history, &report);
  SlHistoryRows *rows = sl_history_flush (history, g_get_real_time () - HOUR, FALSE);
  g_assert_nonnull (rows);
  sl_history_rows_free (rows);
  sl_history_free (history);
  gst_structure_free (g_array_index (regions, SlReportRegions, 0).counts);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/events/many-objects", test_many_objects);
  g_test_add_func ("/events/notes", test_notes);
  g_test_add_func ("/events/notes/hostile", test_hostile_notes);
  g_test_add_func ("/events/colors", test_colors);
  g_test_add_func ("/events/picture/damaged", test_damaged_picture);
  g_test_add_func ("/events/merge", test_merge);
  g_test_add_func ("/events/merge-review", test_merge_review);
  g_test_add_func ("/events/future", test_future);
  g_test_add_func ("/events/pages", test_pages);
  g_test_add_func ("/events/scan", test_scan);
  g_test_add_func ("/events/names", test_names);
  g_test_add_func ("/events/damaged", test_damaged);
  g_test_add_func ("/events/versions", test_versions);
  g_test_add_func ("/events/zones", test_zones);
  g_test_add_func ("/events/zones/strange", test_strange_zones);
  g_test_add_func ("/events/timeline", test_timeline);
  g_test_add_func ("/events/failing", test_failing);
  g_test_add_func ("/events/history", test_history);
  g_test_add_func ("/events/retention", test_retention);
  g_test_add_func ("/events/clock", test_clock);
  g_test_add_func ("/events/clock/back", test_clock_back);
  return g_test_run ();
}
