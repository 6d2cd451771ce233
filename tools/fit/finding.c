/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values and orders of channels are tried first, all with one fit; the best few then with the other
 * fits, since a fit changes less.
 */
#include "tools/fit/finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/picture.h"
#include "predict/contractspec.h"
#include "tools/interrupt.h"
#include "tools/progress.h"

/* Value readings that other fits are tried with. */
#define BEST_VALUES 3
#define FEWEST_PICTURES 3u
/* How likely the best values and order of channels must be to be chosen, and to be sure. */
#define CHOSEN_FROM 0.8
#define SURE_FROM 0.95
/* The evidence, as a logarithm, that there must be. */
#define LEAST_EVIDENCE 0.1
/* Of truths the best must be better than the second by this share to be chosen, and by that to be
 * sure; fits that differ by less do not matter. */
#define CHOSEN_BY 0.03
#define SURE_BY 0.15
/* Below this score nothing that a model says depends on the picture. */
#define MIN_SAID 0.05

void
sl_finding_free (SlFinding *finding)
{
  if (finding == NULL)
    return;
  g_clear_pointer (&finding->readings, g_ptr_array_unref);
  g_free (finding->why);
  g_free (finding);
}

static gint
compare (gdouble a, gdouble b)
{
  return (a < b) - (a > b);
}

/* By the truth, where it is known, and then by the score. */
static gint
by_score (gconstpointer a, gconstpointer b)
{
  const SlReading *one = *(const SlReading *const *) a, *two = *(const SlReading *const *) b;
  const gint by_truth =
    compare (isnan (one->truth) ? -1 : one->truth, isnan (two->truth) ? -1 : two->truth);
  return by_truth != 0 ? by_truth : compare (one->score, two->score);
}

/* Runs the readings from number @first on. */
static gboolean
try_all (SlTrial *trial, GPtrArray *readings, guint first, const SlProgress *progress,
         GError **error)
{
  for (guint i = first; i < readings->len && !sl_interrupted (); i++) {
    if (!sl_trial_run (trial, readings->pdata[i], error))
      return FALSE;
    sl_progress_show (progress, i + 1);
  }
  return !sl_interrupted ();
}

static void
add_fits (GPtrArray *readings, SlFit tried)
{
  static const SlFit fits[] = { SL_FIT_STRETCH, SL_FIT_LETTERBOX, SL_FIT_CROP };
  const guint n = MIN (readings->len, BEST_VALUES);
  for (guint i = 0; i < n; i++)
    for (guint f = 0; f < G_N_ELEMENTS (fits); f++)
      if (fits[f] != tried)
        g_ptr_array_add (readings, sl_reading_new (readings->pdata[i], fits[f]));
}

/* (transfer full): for a sentence. */
static char *
options_of (const SlReading *reading)
{
  g_autofree char *options = sl_reading_options (reading);
  return options[0] != '\0' ? g_steal_pointer (&options) : g_strdup ("as the model is read anyway");
}

/* What readings are ranked by: the truth where it is known, else the score. */
static gdouble
rank_of (const SlReading *reading)
{
  return isnan (reading->truth) ? reading->score : reading->truth;
}

/* (nullable): the best reading of other values or another order of channels than the first one's.
 */
static const SlReading *
best_other (const GPtrArray *readings)
{
  for (guint i = 1; i < readings->len; i++)
    if (!sl_reading_same_values (readings->pdata[0], readings->pdata[i]))
      return readings->pdata[i];
  return NULL;
}

/* The most that the model says with any reading. */
static gdouble
most_said (const GPtrArray *readings)
{
  gdouble most = 0;
  for (guint i = 0; i < readings->len; i++)
    most = fmax (most, ((const SlReading *) readings->pdata[i])->said);
  return most;
}

/* How much better the best reading is than @other (nullable), as a share of its own truth. */
static gdouble
lead_over (const SlReading *best, const SlReading *other)
{
  return other != NULL && rank_of (best) > 0 ? (rank_of (best) - rank_of (other)) / rank_of (best)
                                             : 1;
}

/* (nullable): the best reading of the first one's values with the other order of channels. */
static const SlReading *
find_twin (const GPtrArray *readings)
{
  const SlReading *best = readings->pdata[0];
  for (guint i = 1; i < readings->len; i++) {
    const SlReading *reading = readings->pdata[i];
    if (reading->convention == best->convention && reading->colour != best->colour)
      return reading;
  }
  return NULL;
}

/* That a reading is usual chooses it not alone: pictures or the model itself must speak for it. */
static gboolean
is_only_usual (const SlReading *best, const SlReading *other)
{
  return other != NULL && isnan (best->truth) && best->evidence - other->evidence < LEAST_EVIDENCE;
}

static gboolean
is_clear (const SlReading *best, const SlReading *other, gdouble likely, gdouble lead)
{
  return other == NULL
         || (isnan (best->truth) ? best->likely >= likely : lead_over (best, other) >= lead);
}

/* Fits that hardly differ are no reason for another one than where nothing is stated. */
static void
prefer_usual_fit (SlFinding *finding, SlFit usual)
{
  SlReading *best = finding->readings->pdata[0];
  for (guint i = 1; i < finding->readings->len; i++) {
    SlReading *reading = finding->readings->pdata[i];
    if (!sl_reading_same_values (best, reading) || reading->fit != usual
        || rank_of (best) - rank_of (reading) >= CHOSEN_BY * rank_of (best))
      continue;
    finding->open_fit = TRUE;
    g_ptr_array_steal_index (finding->readings, i);
    g_ptr_array_insert (finding->readings, 0, reading);
    return;
  }
}

/* (nullable): the reading that the first one is too close to. */
static const SlReading *
too_close (const GPtrArray *readings, const SlReading *other)
{
  const SlReading *best = readings->pdata[0], *twin = find_twin (readings);
  if (!is_clear (best, other, CHOSEN_FROM, CHOSEN_BY) || is_only_usual (best, other))
    return other;
  return is_only_usual (best, twin) ? twin : NULL;
}

static void
judge (SlFinding *finding, SlFit usual)
{
  const SlReading *best = finding->readings->pdata[0], *other = best_other (finding->readings);
  if (best->fit != usual)
    prefer_usual_fit (finding, usual);
  best = finding->readings->pdata[0];
  const SlReading *close = too_close (finding->readings, other);
  if (most_said (finding->readings) < MIN_SAID && !(best->truth > 0))
    finding->why = g_strdup (
      "with no reading does what the model says depend on the picture: give other pictures, with "
      "what it looks for in them, or its decoder and labels");
  else if (sl_trial_pictures (finding->trial) < FEWEST_PICTURES && isnan (best->truth))
    finding->why = g_strdup_printf (
      "%u %s too few to compare what the model says of different ones: give %u or more, or --truth",
      sl_trial_pictures (finding->trial),
      sl_trial_pictures (finding->trial) == 1 ? "picture is" : "pictures are", FEWEST_PICTURES);
  else if (close != NULL) {
    g_autofree char *one = options_of (best), *two = options_of (close);
    finding->why =
      g_strdup_printf ("the best two are too close to choose, %s and %s: give more pictures%s", one,
                       two, isnan (best->truth) ? ", or --truth" : "");
  }
  finding->chosen = finding->why == NULL;
  finding->sure = finding->chosen && is_clear (best, other, SURE_FROM, SURE_BY);
}

static void
weigh (SlFinding *finding)
{
  SlWeighed weighed;
  sl_trial_weighed (finding->trial, &weighed);
  sl_weigh_values (finding->readings, &weighed);
  g_ptr_array_sort (finding->readings, by_score);
}

SlFinding *
sl_finding_new (SlTrial *trial, const SlModelOptions *options, const SlFitTruth *truth,
                GError **error)
{
  g_autoptr (SlFinding) finding = g_new0 (SlFinding, 1);
  const SlContract *contract = sl_trial_contract (trial);
  const SlFit fit = sl_contract_fit (contract).fit;
  SlProgress progress;
  finding->trial = trial;
  finding->readings = sl_readings_values (contract, options, fit);
  const guint n = finding->readings->len,
              all = n + (options->settings.fit == NULL ? 2 * MIN (n, BEST_VALUES) : 0);
  sl_progress_start (&progress, "fit", "readings", all);
  gboolean good = try_all (trial, finding->readings, 0, &progress, error);
  if (good)
    weigh (finding);
  if (good && options->settings.fit == NULL) {
    add_fits (finding->readings, fit);
    good = try_all (trial, finding->readings, n, &progress, error);
    sl_weigh_fits (finding->readings);
    g_ptr_array_sort (finding->readings, by_score);
  }
  sl_progress_hide ();
  if (good && truth != NULL) {
    good = sl_fit_truth (truth, finding->readings, error);
    g_ptr_array_sort (finding->readings, by_score);
  }
  if (!good)
    return NULL;
  judge (finding, fit);
  return g_steal_pointer (&finding);
}

static void
print_json (const SlFinding *finding, const char *model)
{
  g_autoptr (GString) json = g_string_new ("{\"model\":");
  sl_json_append_string (json, model);
  g_string_append (json, ",\"decoder\":");
  sl_json_append_string (json, sl_trial_decoder (finding->trial));
  sl_json_append_boolean (json, "chosen", finding->chosen);
  sl_json_append_boolean (json, "sure", finding->sure);
  g_string_append (json, ",\"readings\":[");
  for (guint i = 0; i < finding->readings->len; i++) {
    const SlReading *reading = finding->readings->pdata[i];
    g_autofree char *mean = sl_reading_mean (reading), *std = sl_reading_std (reading),
                    *options = sl_reading_options (reading);
    char number[G_ASCII_DTOSTR_BUF_SIZE], share[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf (
      json,
      "%s{\"values\":\"%s\",\"mean\":[%s],\"std\":[%s],\"colour\":\"%s\",\"fit\":\"%s\","
      "\"score\":%s,\"truth\":%s,\"options\":",
      i > 0 ? "," : "", reading->convention->name, mean, std, sl_colour_name (reading->colour),
      sl_fit_name (reading->fit), g_ascii_formatd (number, sizeof number, "%.4f", reading->score),
      isnan (reading->truth) ? "null"
                             : g_ascii_formatd (share, sizeof share, "%.4f", reading->truth));
    sl_json_append_string (json, options);
    g_string_append_c (json, '}');
  }
  g_string_append (json, "]}");
  puts (json->str);
}

static void
print_row (const SlReading *reading, gboolean truth)
{
  g_autofree char *options = sl_reading_options (reading);
  printf ("    %.2f  ", reading->score);
  if (truth && isnan (reading->truth))
    printf ("    -  ");
  else if (truth)
    printf (" %.2f  ", reading->truth);
  printf ("%-9s  %-6s  %-9s  %s\n", reading->convention->name, sl_colour_name (reading->colour),
          sl_fit_name (reading->fit), options);
}

char *
sl_finding_verdict (const SlFinding *finding)
{
  g_autofree char *options = options_of (finding->readings->pdata[0]);
  if (!finding->chosen)
    return g_strdup_printf ("not chosen: %s", finding->why);
  return g_strdup_printf ("%s: %s%s", finding->sure ? "sure" : "probably", options,
                          finding->open_fit ? " (the fit hardly matters on these pictures)" : "");
}

void
sl_finding_print (const SlFinding *finding, const char *model, gboolean json)
{
  if (json) {
    print_json (finding, model);
    return;
  }
  const guint n = MIN (finding->readings->len, SL_FINDING_SHOWN);
  const gboolean truth = !isnan (((const SlReading *) finding->readings->pdata[0])->truth);
  g_autofree char *verdict = sl_finding_verdict (finding);
  printf ("   score  %svalues     colour  fit        options\n", truth ? "truth  " : "");
  for (guint i = 0; i < n; i++)
    print_row (finding->readings->pdata[i], truth);
  if (finding->readings->len > n)
    printf ("          (%u others)\n", finding->readings->len - n);
  printf ("%s\n", verdict);
}

/* decoder=NAME,PARAMETER=VALUE as keys. */
static void
append_decoder (GString *text, const char *decoder)
{
  g_auto (GStrv) pieces = g_strsplit (decoder, ",", -1);
  for (guint i = 0; pieces[i] != NULL; i++)
    g_string_append_printf (text,
                            i == 0                            ? "decoder=%s"
                            : strchr (pieces[i], '=') != NULL ? "\ndecoder-%s"
                                                              : ",%s",
                            g_strstrip (pieces[i]));
  g_string_append_c (text, '\n');
}

/* Of INPUT=VALUE;... the values that are files, which a key file takes relative to its own folder.
 */
static void
append_inputs (GString *text, const char *inputs)
{
  g_auto (GStrv) pieces = g_strsplit (inputs, ";", -1);
  g_string_append (text, "fixed-inputs=");
  for (guint i = 0; pieces[i] != NULL; i++) {
    const char *equals = strchr (pieces[i], '='), *value = equals != NULL ? equals + 1 : "";
    g_autofree char *path = g_file_test (value, G_FILE_TEST_IS_REGULAR)
                              ? g_canonicalize_filename (value, NULL)
                              : g_strdup (value);
    g_string_append_printf (text, "%s%.*s%s", i > 0 ? ";" : "", (int) (value - pieces[i]),
                            pieces[i], path);
  }
  g_string_append_c (text, '\n');
}

static void
append_key (GString *text, const char *name, const char *value)
{
  if (strcmp (name, "decoder") == 0) {
    append_decoder (text, value);
  } else if (strcmp (name, "fixed-inputs") == 0) {
    append_inputs (text, value);
  } else {
    g_autofree char *path =
      strcmp (name, "labels") == 0 ? g_canonicalize_filename (value, NULL) : NULL;
    g_string_append_printf (text, "%s=%s\n", name, path != NULL ? path : value);
  }
}

char *
sl_finding_info (const SlFinding *finding, const SlModelOptions *options)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  g_auto (SlModelSettings) settings = { 0 };
  GString *text =
    g_string_new (SL_FIT_HEAD "[modelinfo]\nversion=1.0\ngroup-id=fit\n\n[sightline]\n");
  sl_reading_settings (finding->readings->pdata[0], &options->settings, &settings);
  for (guint i = 0; i < n; i++) {
    const char *value = sl_setting_get (&table[i], &settings);
    if ((table[i].doors & SL_DOOR_KEY_FILE) != 0 && value != NULL)
      append_key (text, table[i].name, value);
  }
  return g_string_free (text, FALSE);
}
