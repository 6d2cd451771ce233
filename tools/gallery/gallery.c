/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline gallery`: who is in a gallery, two persons as one, and erasing. */
#include <stdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "plugins/camera/jpeg.h"
#include "plugins/gallery/portrait.h"
#include "tools/command.h"
#include "tools/gallery/listing.h"
#include "tools/options.h"

#define COMMAND "gallery"
#define LIMIT_MOST 100000
/* How each picture begins. */
#define JPEG_HEAD "\xff\xd8\xff"

/* @us_since, @us_before, @most: what the texts say */
typedef struct
{
  char *key_file, *camera, *since, *before, *limit, *picture;
  gboolean json, all;
  gint64 us_since, us_before;
  guint most;
} Options;

/* A verb after "gallery"; @people: numbers of people that it takes */
typedef struct
{
  const char *name;
  guint people_least, people_most;
  int (*run) (SlIdentityStore *store, const Options *options, const gint64 *people, guint n);
} Verb;

static int
fail (GError *error)
{
  const int status = sl_complain (COMMAND, "%s", error->message);
  g_error_free (error);
  return status;
}

static int
run_list (SlIdentityStore *store, const Options *options, const gint64 *people, guint n)
{
  GError *error = NULL;
  const SlGalleryFilter filter = { options->camera, options->us_since, options->most };
  guint found = 0;
  if (!sl_gallery_print_list (store, &filter, options->json, &found, &error))
    return fail (error);
  if (found == 0)
    fprintf (stderr, "nobody found\n");
  return SL_EXIT_OK;
}

/* Whether @jpeg is one picture of a size that slgallery makes, and nothing else. */
static gboolean
is_portrait (GBytes *jpeg)
{
  g_autoptr (GBytes) picture =
    sl_camera_jpeg_take (jpeg, SL_PORTRAIT_MOST * SL_PORTRAIT_MOST, NULL);
  return picture != NULL && g_bytes_equal (picture, jpeg);
}

/* For its owner, as the gallery is. Without a key anybody who may write the file may have put
 * anything there. */
static gboolean
write_picture (SlIdentityStore *store, gint64 person, const char *path, GError **error)
{
  gsize n;
  g_autoptr (GError) cause = NULL;
  g_autoptr (GBytes) jpeg = sl_identity_store_read_picture (store, person, error);
  if (jpeg == NULL)
    return FALSE;
  if (!is_portrait (jpeg))
    return sl_fail (error, SL_ERROR_FORMAT, SL_IDENTITY_OTHER_PICTURE, store->sql.path, person);
  const char *data = g_bytes_get_data (jpeg, &n);
  return g_file_set_contents_full (path, data, (gssize) n, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                   &cause)
         || sl_fail (error, SL_ERROR_OPEN, "--picture: %s", cause->message);
}

static int
run_show (SlIdentityStore *store, const Options *options, const gint64 *people, guint n)
{
  GError *error = NULL;
  if (options->picture != NULL
      && (!sl_identity_store_check_person (store, people[0], &error)
          || !write_picture (store, people[0], options->picture, &error)))
    return fail (error);
  return sl_gallery_print_person (store, people[0], options->json, &error) ? SL_EXIT_OK
                                                                           : fail (error);
}

static int
run_merge (SlIdentityStore *store, const Options *options, const gint64 *people, guint n)
{
  GError *error = NULL;
  if (!sl_identity_store_merge (store, people[0], people[1], &error))
    return fail (error);
  printf ("person %" G_GINT64_FORMAT " is %" G_GINT64_FORMAT " now\n", people[0], people[1]);
  return SL_EXIT_OK;
}

static int
run_forget (SlIdentityStore *store, const Options *options, const gint64 *people, guint n)
{
  GError *error = NULL;
  const SlIdentityChoice choice = { n > 0 ? people[0] : 0, options->us_before, options->camera };
  guint gone = 0;
  const gboolean chosen = n > 0 || choice.before > 0 || choice.camera != NULL;
  if (chosen == options->all)
    return sl_options_usage (COMMAND, "forget: expected a PERSON, --before, --camera, or --all "
                                      "without these");
  if ((n > 0 && !sl_identity_store_check_person (store, choice.person, &error))
      || !sl_identity_store_forget (store, &choice, &gone, &error))
    return fail (error);
  printf ("%u rows are erased\n", gone);
  return SL_EXIT_OK;
}

static const Verb verbs[] = {
  { "list", 0, 0, run_list },
  { "show", 1, 1, run_show },
  { "merge", 2, 2, run_merge },
  { "forget", 0, 1, run_forget },
};

/* FALSE, having complained. */
static gboolean
read_people (const Verb *verb, char **words, gint64 people[2], guint *n)
{
  const guint given = g_strv_length (words);
  for (*n = 0; *n < MIN (given, 2); ++*n) {
    guint64 number;
    if (!g_ascii_string_to_unsigned (words[*n], 10, 1, G_MAXINT64, &number, NULL)) {
      sl_options_usage (COMMAND, "%s: expected the number of a person, got '%s'", verb->name,
                        words[*n]);
      return FALSE;
    }
    people[*n] = (gint64) number;
  }
  if (given >= verb->people_least && given <= verb->people_most)
    return TRUE;
  sl_options_usage (COMMAND, "%s: expected %s, got %u words after FILE", verb->name,
                    verb->people_most == 0    ? "no person"
                    : verb->people_most == 2  ? "PERSON and the person that it is, too"
                    : verb->people_least == 0 ? "at most one PERSON"
                                              : "one PERSON",
                    given);
  return FALSE;
}

/* What the rules of the file do not allow is gone before anything is answered. */
static int
run_verb (const Verb *verb, const Options *options, char **words)
{
  GError *error = NULL;
  gint64 people[2] = { 0 };
  guint n, gone;
  if (!read_people (verb, words + 1, people, &n))
    return SL_EXIT_USAGE;
  g_autoptr (SlIdentityStore) store = sl_identity_store_open (words[0], options->key_file, &error);
  if (store == NULL || !sl_identity_store_expire (store, g_get_real_time (), &gone, &error))
    return fail (error);
  return verb->run (store, options, people, n);
}

static gboolean
read_options (Options *options)
{
  options->most = 100;
  return sl_options_integer (COMMAND, "--limit", options->limit, 1, LIMIT_MOST, &options->most)
         && sl_options_time (COMMAND, "--since", options->since, &options->us_since)
         && sl_options_time (COMMAND, "--before", options->before, &options->us_before)
         && sl_options_report (COMMAND, "--picture", options->picture, JPEG_HEAD);
}

static int
run_checked (const Options *options, char **rest)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs) && rest[0] != NULL; i++)
    if (strcmp (rest[0], verbs[i].name) == 0)
      return rest[1] != NULL
               ? run_verb (&verbs[i], options, rest + 1)
               : sl_options_usage (COMMAND, "%s: expected the FILE of a gallery", verbs[i].name);
  return sl_options_usage (COMMAND, "expected list, show, merge or forget, got '%s'",
                           rest[0] != NULL ? rest[0] : "");
}

static int
run_gallery (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  const GOptionEntry entries[] = {
    { "key-file", 0, 0, G_OPTION_ARG_FILENAME, &options.key_file,
      "File with the key of an encrypted gallery", "FILE" },
    SL_TEXT_ENTRY ("camera", &options.camera, "list, forget: what this camera saw", "NAME"),
    SL_TEXT_ENTRY ("since", &options.since, "list: people seen since this time, such as 2026-11-29",
                   "TIME"),
    SL_TEXT_ENTRY ("before", &options.before, "forget: what was seen before this time", "TIME"),
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &options.picture,
      "show: write the person's picture there, as JPEG", "FILE" },
    SL_SWITCH_ENTRY ("all", &options.all, "forget: everybody"),
    { "limit", 'n', 0, G_OPTION_ARG_STRING, &options.limit,
      "list: most people, 1..100000 (default 100)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "list, show: print JSON", NULL },
    { NULL },
  };
  int status = sl_options_parse (
    COMMAND, "list|show|merge|forget FILE [PERSON...]",
    "Says who is in a gallery of slgallery, makes one person of two, and erases people.",
    "list FILE prints the people, those seen last first. show FILE PERSON prints where and when "
    "one was seen. merge FILE PERSON SAME makes PERSON and SAME one person, called SAME. forget "
    "FILE erases PERSON, or what --before and --camera say. Each line says how sure it is.",
    argc, argv, entries, NULL, &rest);
  if (status < 0)
    status = read_options (&options) ? run_checked (&options, rest) : SL_EXIT_USAGE;
  sl_options_clear (entries);
  return status;
}

const SlCommand sl_command_gallery = { COMMAND, "people that cameras have seen", run_gallery };
