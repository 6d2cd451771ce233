/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What runs a model, what it would cost in the other backend that is here, and which tensors are
 * copied on the way. */
#include "models/backend.h"
#include "pipelines/description/element_names.h"

#include <string.h>

#include "tools/check/findings.h"

#define TRIAL_MS 300
/* A runtime that is faster by this factor is worth a word. */
#define GAIN 1.05

static void
report_copies (GstElement *infer, const SlModel *model, GArray *findings)
{
  const SlExternalModel *external = sl_model_external (model);
  g_autofree char *provider = NULL, *delegate = NULL, *library = NULL;
  if (external == NULL)
    return;
  g_object_get (infer, "provider", &provider, "delegate", &delegate, "provider-library", &library,
                NULL);
  const gboolean on_device = (provider != NULL && *provider != '\0')
                             || (delegate != NULL && *delegate != '\0')
                             || (library != NULL && *library != '\0');
  g_autofree char *name = sl_model_element_name (infer);
  const gboolean in_place = strcmp (sl_external_model_name (external), "onnxruntime") == 0;
  sl_findings_add (
    findings, SL_FINDING_FACT, "copies", "%s: %s%s", name,
    in_place ? "ONNX Runtime reads tensors where slnormalize writes them, and writes them where "
               "slpostprocess reads them"
             : "each tensor is copied once into, and once out of, memory of TensorFlow Lite",
    on_device ? "; what a device needs in memory of its own, its provider or delegate copies" : "");
}

/* Both on the same noise. */
static void
compare (GstElement *infer, const char *runtime, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL, *stated = NULL;
  SlBackendTrial trial;
  g_autofree char *name = sl_model_element_name (infer);
  g_autoptr (SlModel) ours = sl_check_load (infer, SL_BACKEND_OURS, NULL);
  g_autoptr (SlModel) theirs = ours != NULL ? sl_check_load (infer, runtime, &error) : NULL;
  if (ours == NULL)
    return;
  g_object_get (infer, "backend", &stated, NULL);
  g_autoptr (SlSession) second =
    theirs != NULL ? sl_model_session_new (theirs, 1, &notice, &error) : NULL;
  g_autoptr (SlSession) first =
    second != NULL ? sl_session_new (sl_model_graph (ours), 1, &error) : NULL;
  if (first == NULL
      || !sl_backend_try (first, second, sl_model_contract (ours), TRIAL_MS, NULL, &trial,
                          &error)) {
    sl_findings_add (findings, SL_FINDING_FACT, "backend", "%s: %s does not run it: %s", name,
                     sl_external_title (runtime), error->message);
    return;
  }
  sl_findings_add (
    findings, SL_FINDING_FACT, "backend",
    "%s: on one thread Sightline takes %.2f ms a run, %s %.2f ms; results %s (%.1e apart)", name,
    trial.ours_ms, sl_external_model_title (sl_session_external (second)), trial.theirs_ms,
    trial.agrees ? "agree" : "differ", trial.difference);
  if ((stated == NULL || *stated == '\0' || strcmp (stated, SL_BACKEND_OURS) == 0) && trial.agrees
      && trial.theirs_ms * GAIN < trial.ours_ms)
    sl_findings_add (findings, SL_FINDING_ADVICE, name, "%s is faster: set backend=auto",
                     sl_external_title (runtime));
}

void
sl_check_backends (GstElement *infer, const SlModel *model, GArray *findings)
{
  const SlExternalModel *external = sl_model_external (model);
  const char *runtime = sl_external_for_format (sl_model_format (model));
  g_autofree char *name = sl_model_element_name (infer);
  sl_findings_add (findings, SL_FINDING_FACT, "backend", "%s: %s runs it", name,
                   external != NULL ? sl_external_model_title (external) : "Sightline, CPU,");
  report_copies (infer, model, findings);
  if (runtime != NULL && sl_external_open (runtime, NULL, NULL) != NULL)
    compare (infer, runtime, findings);
}
