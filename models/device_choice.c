/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice for device=auto. Sightline and each device of the provider's library run the model on
 * the same noise. A device is taken only if it was measured and its results are the same. Anything
 * that goes wrong is a reason for Sightline, in the sentence.
 */
#include "models/device_choice.h"

#include "core/base/printable.h"
#include "models/backend_choice.h"
#include "models/choice_cache.h"

#define RUNTIME "onnxruntime"
/* Devices that are measured; others of the library are not looked at. */
#define MAX_DEVICES 8

void
sl_device_trial_clear (SlDeviceTrial *trial)
{
  g_clear_pointer (&trial->title, g_free);
  g_clear_pointer (&trial->failure, g_free);
}

static gboolean
is_better (const SlDeviceTrial *trial)
{
  return trial->failure == NULL && trial->trial.agrees
         && trial->trial.theirs_ms * SL_BACKEND_GAIN < trial->trial.ours_ms;
}

/* What a device lacks. */
static void
append_reason (GString *text, const SlDeviceTrial *trial)
{
  const SlBackendTrial *t = &trial->trial;
  g_string_append_printf (text, "%s %s ", text->len > 0 ? ";" : "", trial->title);
  if (trial->failure != NULL)
    g_string_append_printf (text, "does not run it (%s)", trial->failure);
  else if (!t->agrees)
    g_string_append_printf (text, "gives results that differ by %.2g %%, expected at most %g %%",
                            100 * t->difference, 100 * SL_BACKEND_AGREEMENT);
  else
    g_string_append_printf (text, "takes %.3g ms, Sightline %.3g ms, expected %g %% less",
                            t->theirs_ms, t->ours_ms, 100 * (SL_BACKEND_GAIN - 1));
}

gint
sl_device_judge (const SlDeviceTrial *trials, guint n, char **sentence)
{
  g_autoptr (GString) reasons = g_string_new (NULL);
  gint chosen = -1;
  for (guint i = 0; i < n; i++)
    if (!is_better (&trials[i]))
      append_reason (reasons, &trials[i]);
    else if (chosen < 0 || trials[i].trial.theirs_ms < trials[chosen].trial.theirs_ms)
      chosen = (gint) i;
  const SlBackendTrial *best = chosen >= 0 ? &trials[chosen].trial : NULL;
  *sentence = best != NULL ? g_strdup_printf (
                "device=auto: %s runs the model in %.3g ms, Sightline in %.3g ms; results differ "
                "by %.2g %%, at most %g %%",
                trials[chosen].title, best->theirs_ms, best->ours_ms, 100 * best->difference,
                100 * SL_BACKEND_AGREEMENT)
                           : g_strdup_printf ("device=auto: Sightline runs the model:%s",
                                              n > 0 ? reasons->str : " the library has no device");
  return chosen;
}

static void
take_device (const SlExternalDevice *device, gpointer data)
{
  GArray *trials = data;
  g_autofree char *provider = sl_printable (device->provider, SL_PRINTABLE_NAME);
  const SlDeviceTrial trial = { .title = g_strdup_printf ("device %u (%s, %s)", trials->len,
                                                          device->type, provider) };
  g_array_append_val (trials, trial);
}

static char *
no_device (const GError *error)
{
  g_autofree char *shown = sl_printable_message (error->message);
  return g_strdup_printf ("device=auto: Sightline runs the model: %s", shown);
}

/* (nullable): the devices, unmeasured. */
static GArray *
list_devices (const SlBackendSettings *backend, GError **error)
{
  g_autoptr (GArray) trials = g_array_new (FALSE, TRUE, sizeof (SlDeviceTrial));
  g_array_set_clear_func (trials, (GDestroyNotify) sl_device_trial_clear);
  if (!sl_external_list_devices (RUNTIME, backend->provider_library, take_device, trials, error))
    return NULL;
  g_array_set_size (trials, MIN (trials->len, MAX_DEVICES));
  return g_steal_pointer (&trials);
}

static void
measure (SlModel *ours, guint i, const SlLoadRequest *request, SlDeviceTrial *trial)
{
  SlBackendSettings backend = request->options.backend;
  g_autofree char *number = g_strdup_printf ("%u", i);
  g_autoptr (GError) error = NULL;
  backend.backend = RUNTIME;
  backend.device = number;
  if (!sl_backend_measure (ours, &backend, request, &trial->trial, &error))
    trial->failure = sl_printable_message (error->message);
}

/* -1 with @sentence set: Sightline. */
static gint
choose (const char *path, const SlLoadRequest *request, const char *name, char **sentence)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) trials = list_devices (&request->options.backend, &error);
  g_autoptr (SlModel) ours = trials != NULL ? sl_backend_load_ours (path, request, &error) : NULL;
  if (ours == NULL) {
    *sentence = no_device (error);
    return -1;
  }
  SlDeviceTrial *devices = (SlDeviceTrial *) (gpointer) trials->data;
  gboolean all_ran = TRUE;
  for (guint i = 0; i < trials->len; i++) {
    measure (ours, i, request, &devices[i]);
    all_ran = all_ran && devices[i].failure == NULL;
  }
  const gint chosen = sl_device_judge (devices, trials->len, sentence);
  g_autofree char *number = g_strdup_printf ("%d", chosen);
  const SlChoiceText texts[] = { { "model", path }, { "device", number }, { "why", *sentence } };
  if (all_ran) /* else another start may find another device */
    sl_choice_remember (name, texts, G_N_ELEMENTS (texts), NULL, 0);
  return chosen;
}

char *
sl_device_choose (const char *path, const SlLoadRequest *request, char **sentence)
{
  const char *format = sl_model_probe_format (path), *library = NULL;
  g_autoptr (GError) error = NULL;
  const char *version = sl_external_open (RUNTIME, &library, &error);
  *sentence = NULL;
  if (version == NULL || g_strcmp0 (format, sl_external_format (RUNTIME)) != 0) {
    *sentence =
      version == NULL
        ? no_device (error)
        : g_strdup_printf ("device=auto: Sightline runs the model: providers take %s "
                           "files, and this is one of %s",
                           sl_external_format (RUNTIME), format != NULL ? format : "none");
    return NULL;
  }
  g_autofree char *name = sl_choice_name (path, &request->options, version, library),
                  *known = sl_choice_recall (name, "device");
  *sentence = known != NULL ? sl_choice_recall (name, "why") : NULL;
  gint64 chosen = -1;
  if (*sentence == NULL
      || !g_ascii_string_to_signed (known, 10, -1, MAX_DEVICES - 1, &chosen, NULL)) {
    g_clear_pointer (sentence, g_free);
    chosen = choose (path, request, name, sentence);
  }
  return chosen >= 0 ? g_strdup_printf ("%d", (int) chosen) : NULL;
}
