/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline search`: embeddings of the pictures beside clips, and which of them are like words or
 * like another picture. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/predict/inputs.h"
#include "tools/progress.h"
#include "tools/run/events/folder.h"
#include "tools/run/events/scan.h"
#include "tools/search/index.h"
#include "tools/search/listing.h"
#include "tools/search/models.h"
#include "tools/search/question.h"
#include "tools/zoo/allow.h"

#define COMMAND "search"
/* Clips that are asked for, and places that are wiped or checked, at once. */
#define BATCH 64
#define WIPES 10000
#define CHECKS 10000

typedef struct
{
  SlModelOptions model;
  char *limit, *camera, *class, *since, *until, *page;
  gboolean index, json;
} Options;

/* What a folder got. */
typedef struct
{
  guint clips, embeddings, lacking;
  char *example; /* why the first of them lacks some */
} Counts;

/* (transfer container): @names; a folder with two names counts once. */
static GPtrArray *
distinct (char **names)
{
  GPtrArray *folders = g_ptr_array_new ();
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; names[i] != NULL; i++) {
    struct stat status;
    char *place = stat (names[i], &status) == 0
                    ? g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
                                       (guint64) status.st_dev, (guint64) status.st_ino)
                    : g_strdup (names[i]); /* what uses it says why it cannot be */
    if (g_hash_table_add (known, place))
      g_ptr_array_add (folders, names[i]);
  }
  return folders;
}

/* Until none is pending, or it is to end. */
static gboolean
index_pending (SlSearchEncoder *encoder, SlStore *store, const SlVectorModel *model, Counts *counts,
               GError **error)
{
  SlProgress progress;
  gint64 after = 0;
  sl_progress_start (&progress, store->folder, "clips", 0);
  while (!sl_interrupted ()) {
    g_autoptr (GPtrArray) stems = sl_vectors_pending (store, model, BATCH, &after, error);
    if (stems == NULL || stems->len == 0)
      return stems != NULL;
    for (guint i = 0; i < stems->len && !sl_interrupted (); i++) {
      guint parts = 0;
      g_autofree char *why = NULL;
      if (!sl_search_index_clip (encoder, store, model, stems->pdata[i], NULL, &parts, &why, error))
        return FALSE;
      counts->clips++;
      counts->embeddings += parts;
      counts->lacking += why != NULL ? 1 : 0;
      if (counts->lacking == 1 && why != NULL)
        counts->example = g_strdup_printf ("%s: %s", (const char *) stems->pdata[i], why);
      sl_progress_show (&progress, counts->clips);
    }
  }
  return TRUE;
}

/* Before an index is made in a folder that somebody named by mistake. */
static gboolean
has_clips (const char *folder, GError **error)
{
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return sl_fail (error, SL_ERROR_OPEN, "%s: expected a folder of clips", folder);
  g_autoptr (GHashTable) clips = sl_clip_files_list (folder, SL_SCAN_MOST, error);
  return clips != NULL
         && (g_hash_table_size (clips) > 0
             || sl_fail (error, SL_ERROR_OPEN,
                         "%s: there are no clips in it; expected a folder that slrecord writes "
                         "into",
                         folder));
}

/* (transfer full) (nullable): with a row for each clip. */
static SlStore *
open_store (const char *folder, GError **error)
{
  gint stop = 0;
  guint added, removed;
  g_autofree char *damaged = NULL;
  g_autoptr (GHashTable) pipelines = g_hash_table_new (g_str_hash, g_str_equal);
  const SlScan scan = { pipelines, &stop };
  g_autoptr (SlStore) store = sl_store_new (folder, &damaged, error);
  if (store == NULL)
    return NULL;
  if (damaged != NULL)
    sl_complain (COMMAND, "%s: the index is damaged: it is %s/%s now, and made again", damaged,
                 folder, SL_STORE_DAMAGED);
  return sl_scan_folder (&scan, store, &added, &removed, error) ? g_steal_pointer (&store) : NULL;
}

/* The picture model of the folders: of one at a time. */
typedef struct
{
  SlSearchEncoder *encoder; /* (nullable) */
  char *settings;           /* (nullable): that it was made of */
} Maker;

static void
maker_clear (Maker *maker)
{
  g_clear_pointer (&maker->encoder, sl_search_encoder_free);
  g_clear_pointer (&maker->settings, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Maker, maker_clear)

/* A text model that is stated here is to be good; one that the index knows may be gone. */
static gboolean
maker_open (Maker *maker, const char *folder, const SlModelSettings *stated,
            const SlModelSettings *settings, GError **error)
{
  GError *reason = NULL;
  g_autofree char *now = sl_search_settings_write (settings);
  if (g_strcmp0 (now, maker->settings) == 0)
    return TRUE;
  maker_clear (maker);
  maker->encoder = sl_search_encoder_new (settings, error);
  if (maker->encoder == NULL)
    return FALSE;
  if (!sl_search_models_check (settings, sl_search_encoder_length (maker->encoder), &reason)) {
    if (stated->text_model != NULL || stated->tokenizer != NULL) {
      g_propagate_error (error, reason);
      return FALSE;
    }
    sl_complain (COMMAND, "%s: words will not be found: %s", folder, reason->message);
    g_error_free (reason);
  }
  maker->settings = g_steal_pointer (&now);
  return TRUE;
}

/* Whether the models of @folder are there. @model: (out): what makes its embeddings */
static gboolean
choose_models (Maker *maker, const char *folder, const SlModelSettings *stated,
               SlVectorModel *model, GError **error)
{
  g_auto (SlModelSettings) settings = { NULL };
  g_autofree char *lost = NULL;
  if (!sl_search_models_take (folder, stated, &settings, &lost, error)
      || !maker_open (maker, folder, stated, &settings, error))
    return FALSE;
  if (lost != NULL)
    sl_complain (COMMAND,
                 "%s: %s belongs to another picture model and is not used any more; state "
                 "--text-model and --tokenizer to find words",
                 folder, lost);
  model->hash = g_strdup (sl_search_encoder_hash (maker->encoder));
  model->length = sl_search_encoder_length (maker->encoder);
  model->settings = g_strdup (maker->settings);
  return TRUE;
}

/* Embeddings whose bytes changed on the disk are made again. */
static gboolean
check_kept (SlStore *store, const SlVectorModel *model, GError **error)
{
  gint64 after = 0, before = -1;
  guint damaged = 0;
  while (after != before && !sl_interrupted ()) {
    before = after;
    if (!sl_vectors_check (store, model, CHECKS, &after, &damaged, error))
      return FALSE;
  }
  if (damaged > 0)
    sl_complain (COMMAND,
                 "%s: %u of its embeddings are damaged; those of their clips are made again",
                 store->folder, damaged);
  return TRUE;
}

static gboolean
index_folder (Maker *maker, const SlModelSettings *stated, const char *folder, GError **error)
{
  Counts counts = { 0 };
  gboolean lost;
  g_auto (SlVectorModel) model = { 0 };
  g_autoptr (SlStore) store =
    has_clips (folder, error) && choose_models (maker, folder, stated, &model, error)
      ? open_store (folder, error)
      : NULL;
  if (store == NULL || !sl_vectors_begin (store, &model, &lost, error))
    return FALSE;
  if (lost)
    sl_complain (COMMAND, "%s: the file of its embeddings is gone or damaged; all are made again",
                 folder);
  const gboolean done = check_kept (store, &model, error)
                        && sl_vectors_wipe (store, &model, WIPES, error)
                        && index_pending (maker->encoder, store, &model, &counts, error);
  sl_progress_hide ();
  if (done)
    printf ("%s: %u embeddings of %u new clips%s\n", folder, counts.embeddings, counts.clips,
            sl_interrupted () ? ", and then it was interrupted" : "");
  if (counts.lacking > 0)
    sl_complain (COMMAND, "%s: pictures of %u clips, or objects in them, have no embedding: %s",
                 folder, counts.lacking, counts.example);
  g_free (counts.example);
  return done;
}

static int
make_index (const Options *options, char **names)
{
  g_autoptr (GError) error = NULL;
  g_auto (Maker) maker = { NULL };
  g_autoptr (GPtrArray) folders = distinct (names);
  sl_interrupt_catch (0);
  for (guint i = 0; i < folders->len && !sl_interrupted (); i++)
    if (!index_folder (&maker, &options->model.settings, folders->pdata[i], &error))
      return sl_complain (COMMAND, "%s", error->message);
  return sl_interrupted () ? SL_EXIT_INTERRUPTED : SL_EXIT_OK;
}

static int
answer (const Options *options, const char *text, char **names, const SlEventQuery *query)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) folders = distinct (names);
  const char *picture = g_file_test (text, G_FILE_TEST_IS_REGULAR) ? text : NULL;
  if (picture == NULL && sl_input_is_picture (text))
    return sl_complain (COMMAND, "%s: no such file; expected a picture, or words", text);
  g_autoptr (GPtrArray) hits =
    sl_search_ask (folders, &options->model.settings, text, picture, query, &error);
  if (hits == NULL)
    return sl_complain (COMMAND, "%s", error->message);
  if (options->page != NULL) {
    GString *page = sl_search_page (hits, text);
    const gboolean written = sl_options_write_text ("--page", options->page, page, &error);
    g_string_free (page, TRUE);
    return written ? SL_EXIT_OK : sl_complain (COMMAND, "%s", error->message);
  }
  sl_search_print (hits, options->json);
  if (hits->len == 0)
    fprintf (stderr, "nothing found\n");
  return SL_EXIT_OK;
}

static int
run_checked (const Options *options, char **rest)
{
  SlEventQuery query = {
    .kept = -1, .pipeline = options->camera, .label = options->class, .limit = 20
  };
  if (!sl_options_integer (COMMAND, "--limit", options->limit, 1, SL_QUERY_LIMIT_MOST, &query.limit)
      || !sl_options_time (COMMAND, "--since", options->since, &query.from)
      || !sl_options_time (COMMAND, "--until", options->until, &query.to))
    return SL_EXIT_USAGE;
  if (options->index && rest[0] == NULL)
    return sl_options_usage (COMMAND, "--index: expected a FOLDER of clips");
  if (!options->index && (rest[0] == NULL || rest[1] == NULL))
    return sl_options_usage (COMMAND, "expected WORDS or a PICTURE, and a FOLDER of clips");
  if (options->index)
    return make_index (options, rest);
  if (!sl_options_report (COMMAND, "--page", options->page, SL_HTML_HEAD))
    return SL_EXIT_FAILED;
  return answer (options, rest[0], rest + 1, &query);
}

/* (transfer full): the options of settings that count here, and the switch that lets a model be
 * fetched. */
static GOptionEntry *
list_settings (Options *options)
{
  GOptionEntry *entries = sl_model_options_entries (
    &options->model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS | SL_SETTINGS_WORDS);
  guint n = 0;
  for (guint i = 0; entries[i].long_name != NULL; i++)
    if (strcmp (entries[i].long_name, SL_ZOO_ALLOW) == 0
        || sl_search_setting_find (entries[i].long_name) != NULL)
      entries[n++] = entries[i];
  entries[n] = (GOptionEntry){ NULL };
  for (guint i = 0; i < n; i++)
    if (strcmp (entries[i].long_name, "text-model") == 0)
      entries[i].description = "The text model that makes embeddings of WORDS";
    else if (strcmp (entries[i].long_name, "templates") == 0)
      entries[i].description = "Texts with {} for the WORDS, such as 'a photo of a {}'";
  return entries;
}

static int
run_search (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *settings = list_settings (&options);
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model.settings.model,
      "The picture model that makes embeddings, such as CLIP's", "FILE" },
    SL_SWITCH_ENTRY ("index", &options.index,
                     "Make embeddings of the pictures in each FOLDER that have none yet"),
    { "limit", 'n', 0, G_OPTION_ARG_STRING, &options.limit, "Most events, 1..500 (default 20)",
      "N" },
    SL_TEXT_ENTRY ("camera", &options.camera, "Events of this camera: the name of its pipeline",
                   "NAME"),
    SL_TEXT_ENTRY ("class", &options.class, "Objects of this class, such as person", "NAME"),
    SL_TEXT_ENTRY ("since", &options.since, "Events from this time on, such as 2026-11-29", "TIME"),
    SL_TEXT_ENTRY ("until", &options.until, "Events before this time", "TIME"),
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print a JSON object for each event",
      NULL },
    { "page", 0, 0, G_OPTION_ARG_FILENAME, &options.page, "Write a page with the pictures to FILE",
      "FILE" },
    { NULL },
  };
  int status = sl_options_parse (
    COMMAND, "WORDS|PICTURE FOLDER...",
    "Finds clips by words, or by a picture that they are to be like.",
    "FOLDER has clips of slrecord. --index FOLDER... makes embeddings of their pictures first, by "
    "--model; the index knows the models then. A name of a file is a PICTURE.",
    argc, argv, entries, settings, &rest);
  if (status < 0)
    status = sl_model_options_check (COMMAND, &options.model) ? run_checked (&options, rest)
                                                              : SL_EXIT_USAGE;
  sl_model_options_clear (&options.model);
  options.model.settings.model = NULL;
  sl_options_clear (entries);
  return status;
}

const SlCommand sl_command_search = { COMMAND, "find clips by words or by a picture", run_search };
