/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/advise/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/zoo_name.h"
#include "tools/terminal.h"

void
sl_advice_clear (SlAdvice *advice)
{
  g_clear_pointer (&advice->rows, g_array_unref);
  g_clear_pointer (&advice->candidates, g_ptr_array_unref);
  g_free (advice->decoder);
  g_free (advice->undecoded);
}

void
sl_advice_plan (SlAdvice *advice)
{
  advice->rows = g_array_new (FALSE, TRUE, sizeof (SlAdviceRow));
  for (guint i = 0; i < advice->candidates->len; i++) {
    const SlCandidate *candidate = g_ptr_array_index (advice->candidates, i);
    for (guint k = 0; k < candidate->n_times; k++) {
      const SlAdviceRow row = { candidate, candidate->times[k],
                                sl_plan_make (&advice->aim, &candidate->times[k]) };
      g_array_append_val (advice->rows, row);
    }
  }
}

const char *
sl_advice_row_bits (const SlAdviceRow *row)
{
  return row->candidate->is_trial ? "int8, a trial" : row->candidate->eight_bits ? "int8" : "float";
}

const SlAdviceRow *
sl_advice_best (const SlAdvice *advice)
{
  const SlAdviceRow *best = NULL;
  for (guint i = 0; i < advice->rows->len; i++) {
    const SlAdviceRow *row = &g_array_index (advice->rows, SlAdviceRow, i);
    if (!row->plan.fits || row->candidate->is_trial)
      continue;
    if (best == NULL || row->candidate->work > best->candidate->work
        || (row->candidate->work == best->candidate->work && row->plan.load < best->plan.load))
      best = row;
  }
  return best;
}

/* (nullable): of those that are trials or not: the one that predicts most often. */
static const SlAdviceRow *
fastest (const SlAdvice *advice, gboolean trial)
{
  const SlAdviceRow *best = NULL;
  for (guint i = 0; i < advice->rows->len; i++) {
    const SlAdviceRow *row = &g_array_index (advice->rows, SlAdviceRow, i);
    if (row->candidate->is_trial == trial
        && (best == NULL || row->plan.most_rate > best->plan.most_rate))
      best = row;
  }
  return best;
}

/* The rate of the shortest interval that @row keeps up with. */
static gdouble
rate_of (const SlAdvice *advice, const SlAdviceRow *row)
{
  const gdouble rate = advice->aim.camera.rate;
  return rate / ceil (rate / row->plan.most_rate - 1e-9);
}

char *
sl_advice_way_out (const SlAdvice *advice)
{
  const SlAdviceRow *row = fastest (advice, FALSE), *trial = fastest (advice, TRUE);
  GString *text = g_string_new ("nothing fits");
  if (row == NULL)
    g_string_append (text, ": no model could be measured");
  else if (row->plan.most_rate < 1e-3)
    g_string_append_printf (
      text,
      ": decoding %u cameras alone takes %.2f of %.2f processors; expected fewer cameras, or "
      "smaller pictures",
      advice->aim.cameras,
      advice->aim.camera.rate * advice->aim.cameras * advice->aim.decode_ms / 1e3,
      advice->aim.processors * (1 - advice->aim.margin));
  else
    g_string_append_printf (text, "; %s with %u thread%s would at a lower rate: --rate %.3g",
                            row->candidate->model, row->times.threads,
                            row->times.threads > 1 ? "s" : "", rate_of (advice, row));
  if (trial != NULL && row != NULL && trial->plan.most_rate > row->plan.most_rate)
    g_string_append_printf (
      text, "; with 8 bits the best one would give %.3g a second (sightline quantize)",
      rate_of (advice, trial));
  return g_string_free (text, FALSE);
}

static void
print_head (const SlAdvice *advice)
{
  const SlPlanAim *aim = &advice->aim;
  printf ("cameras    %u of %ux%u, %.4g frames a second\n", aim->cameras, aim->camera.width,
          aim->camera.height, aim->camera.rate);
  if (advice->undecoded != NULL)
    printf ("decoding   %s; its cost comes on top\n", advice->undecoded);
  else if (advice->decoder != NULL)
    printf ("decoding   %.2f ms a frame of %s by %s, of a drawn picture that moves\n",
            aim->decode_ms, advice->codec, advice->decoder);
  else
    printf ("decoding   none: %s frames\n", advice->codec);
  printf ("aim        %.4g predictions a second of each; %.0f %% of %u processor%s stay free\n",
          aim->rate, 100 * aim->margin, aim->processors, aim->processors > 1 ? "s" : "");
}

/* (transfer full): which limit does not hold. */
static char *
reason (const SlAdvice *advice, const SlAdviceRow *row)
{
  if (row->plan.fits)
    return g_strdup (row->candidate->is_trial ? "would" : "yes");
  return g_strdup_printf ("no: at most %.3g a second", row->plan.most_rate);
}

void
sl_advice_print (const SlAdvice *advice)
{
  gsize width = 5;
  gboolean trials = FALSE;
  for (guint i = 0; i < advice->candidates->len; i++)
    width =
      MAX (width, strlen (((SlCandidate *) g_ptr_array_index (advice->candidates, i))->model));
  print_head (advice);
  printf ("\n%s%-*s  %-13s  threads  preprocess  inference  decode  processors  fits%s\n",
          sl_terminal_style (stdout, SL_STYLE_HEADING), (int) width, "model", "numbers",
          sl_terminal_style (stdout, SL_STYLE_PLAIN));
  for (guint i = 0; i < advice->rows->len; i++) {
    const SlAdviceRow *row = &g_array_index (advice->rows, SlAdviceRow, i);
    g_autofree char *fits = reason (advice, row),
                    *model = sl_printable (row->candidate->model, SL_PRINTABLE_NAME);
    printf ("%-*s  %-13s  %7u  %10.2f  %9.2f  %6.2f  %10.2f  %s\n", (int) width, model,
            sl_advice_row_bits (row), row->times.threads, row->times.preprocess,
            row->times.inference, row->times.decode, row->plan.load, fits);
    trials |= row->candidate->is_trial;
  }
  for (guint i = 0; i < advice->candidates->len; i++) {
    const SlCandidate *candidate = g_ptr_array_index (advice->candidates, i);
    g_autofree char *problem =
      candidate->problem != NULL ? sl_printable_message (candidate->problem) : NULL;
    if (problem != NULL)
      printf ("%-*s  no: %s\n", (int) width, candidate->model, problem);
  }
  if (trials)
    printf ("A trial was quantised by one drawn picture: its times are right, its answers are not. "
            "sightline quantize makes a good one, for --model.\n");
}

void
sl_advice_print_best (const SlAdvice *advice, const SlAdviceRow *row)
{
  g_autofree char *model = sl_printable (row->candidate->model, SL_PRINTABLE_NAME);
  printf ("\ntake       %s, %s, %u thread%s, ", model, sl_advice_row_bits (row), row->times.threads,
          row->times.threads > 1 ? "s" : "");
  if (row->plan.interval == 1)
    printf ("every frame");
  else
    printf ("one of %u frames", row->plan.interval);
  printf (": %.2f of %u processors\n"
          "           Of those that fit it does most work; how often it is right was not compared "
          "(sightline eval).\n",
          row->plan.load, advice->aim.processors);
}

static void
append_row (GString *json, const SlAdviceRow *row)
{
  sl_json_append_text (json, "model", row->candidate->model);
  sl_json_append_text (json, "numbers", row->candidate->eight_bits ? "int8" : "float");
  sl_json_append_boolean (json, "trial", row->candidate->is_trial);
  sl_json_append_count (json, "threads", row->times.threads);
  sl_json_append_number (json, "preprocess_ms", row->times.preprocess, 6);
  sl_json_append_number (json, "inference_ms", row->times.inference, 6);
  sl_json_append_number (json, "decode_ms", row->times.decode, 6);
  sl_json_append_count (json, "interval", row->plan.interval);
  sl_json_append_number (json, "processors", row->plan.load, 6);
  sl_json_append_number (json, "most_rate", row->plan.most_rate, 6);
  sl_json_append_boolean (json, "fits", row->plan.fits);
}

static void
append_head (GString *json, const SlAdvice *advice)
{
  const SlPlanAim *aim = &advice->aim;
  sl_json_append_count (json, "cameras", aim->cameras);
  sl_json_append_count (json, "width", aim->camera.width);
  sl_json_append_count (json, "height", aim->camera.height);
  sl_json_append_number (json, "frame_rate", aim->camera.rate, 6);
  sl_json_append_number (json, "rate", aim->rate, 6);
  sl_json_append_number (json, "margin", aim->margin, 6);
  sl_json_append_count (json, "processors", aim->processors);
  sl_json_append_text (json, "codec", advice->codec);
  sl_json_append_text (json, "decoder", advice->decoder);
  sl_json_append_number (json, "camera_decode_ms", aim->decode_ms, 6);
}

void
sl_advice_print_json (const SlAdvice *advice, const char *description)
{
  const SlAdviceRow *best = sl_advice_best (advice);
  g_autoptr (GString) json = g_string_new ("{");
  append_head (json, advice);
  sl_json_append_key (json, "candidates");
  g_string_append_c (json, '[');
  for (guint i = 0; i < advice->rows->len; i++) {
    g_string_append (json, i > 0 ? ",{" : "{");
    append_row (json, &g_array_index (advice->rows, SlAdviceRow, i));
    g_string_append_c (json, '}');
  }
  g_string_append (json, "],\"refused\":{");
  for (guint i = 0; i < advice->candidates->len; i++) {
    const SlCandidate *candidate = g_ptr_array_index (advice->candidates, i);
    if (candidate->problem != NULL && !candidate->is_trial)
      sl_json_append_text (json, candidate->model, candidate->problem);
  }
  g_string_append_c (json, '}');
  sl_json_append_text (json, "chosen", best != NULL ? best->candidate->model : NULL);
  sl_json_append_count (json, "threads", best != NULL ? best->times.threads : 0);
  sl_json_append_text (json, "description", description);
  g_string_append_c (json, '}');
  puts (json->str);
}

/* (transfer full): @text as a value of a description. */
static char *
value_of (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "${", -1);
  return g_strjoinv ("$${", parts);
}

static void
append_branch (GString *text, const SlAdvice *advice, const SlAdviceRow *row, guint i)
{
  const SlPlanAim *aim = &advice->aim;
  const SlCandidate *candidate = row->candidate;
  g_string_append_printf (
    text,
    "%sslcamera name=source%u uri=${camera%u} width=%u height=%u framerate=%g \\\n"
    "  ! slpredict name=predict%u model=${model} threads=%u source=camera%u",
    i > 1 ? "  " : "launch=", i, i, aim->camera.width, aim->camera.height, aim->camera.rate, i,
    row->times.threads, i);
  if (row->plan.interval > 1)
    g_string_append_printf (text, " inference-interval=%u", row->plan.interval);
  if (candidate->classes != NULL)
    g_string_append_printf (text, " classes=${classes}");
  for (guint k = 0; candidate->options[k] != NULL; k++)
    g_string_append_printf (text, " %s", candidate->options[k]);
  g_string_append_printf (
    text, " \\\n  ! application/x-json ! slpublish name=sink%u location=${output}%s\n", i,
    i < advice->aim.cameras ? " \\" : "");
}

char *
sl_advice_describe (const SlAdvice *advice, const SlAdviceRow *row)
{
  const SlPlanAim *aim = &advice->aim;
  const SlCandidate *candidate = row->candidate;
  GString *text = g_string_new (NULL);
  g_autofree char *path = sl_zoo_name (candidate->model) != NULL
                            ? g_strdup (candidate->model)
                            : g_canonicalize_filename (candidate->model, NULL);
  g_autofree char *model = value_of (path),
                  *task = value_of (advice->task != NULL ? advice->task : "Predictions"),
                  *classes = candidate->classes != NULL ? value_of (candidate->classes) : NULL;
  g_string_append_printf (
    text,
    "# By sightline advise: %u camera%s of %ux%u at %.4g frames a second. State the cameras:\n"
    "#   sightline run FILE --set camera1=rtsp://192.0.2.1/stream\n\n[pipeline]\n"
    "description=%s of each camera, a line of JSON a frame\n",
    aim->cameras, aim->cameras > 1 ? "s" : "", aim->camera.width, aim->camera.height,
    aim->camera.rate, task);
  for (guint i = 1; i <= aim->cameras; i++)
    append_branch (text, advice, row, i);
  g_string_append_printf (
    text,
    "restart=on-failure\n\n[parameter model]\ndescription=The model\ndefault=%s\n\n"
    "[parameter output]\ndescription=Where the lines go: - is standard output\ndefault=-\n",
    model);
  if (classes != NULL)
    g_string_append_printf (
      text, "\n[parameter classes]\ndescription=Labels that count\ndefault=%s\n", classes);
  for (guint i = 1; i <= aim->cameras; i++)
    g_string_append_printf (
      text,
      "\n[parameter camera%u]\ndescription=Address of a camera\ndefault=test://?pattern=ball\n", i);
  return g_string_free (text, FALSE);
}
