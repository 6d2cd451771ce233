/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sightline backends: which runtimes of others are installed, and the devices that they name. */
#include <stdio.h>
#include <unistd.h>

#include "config.h"
#include "core/base/build_selection.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/external/external.h"
#include "models/model.h"
#include "tools/command.h"
#include "tools/options.h"

#define NAME "backends"

typedef struct
{
  gboolean json;
  char *library, *model;
  GString *out; /* what is to be printed */
} Options;

/* The devices of a list, as they are told. */
typedef struct
{
  gboolean json;
  GString *out;
  guint n;
} List;

static void
append_text (List *list, const SlExternalDevice *device)
{
  g_autofree char *provider = sl_printable (device->provider, SL_PRINTABLE_NAME),
                  *vendor = sl_printable (device->vendor, SL_PRINTABLE_NAME),
                  *memory = device->memory != NULL
                              ? sl_printable (device->memory, SL_PRINTABLE_NAME)
                              : g_strdup ("-");
  g_string_append_printf (list->out, "  device %u: %s, vendor %s, memory %s, provider %s\n",
                          list->n, device->type, vendor, memory, provider);
}

static void
append_json (List *list, const SlExternalDevice *device)
{
  g_string_append_printf (list->out, "%s{\"device\":%u", list->n > 0 ? "," : "", list->n);
  sl_json_append_text (list->out, "type", device->type);
  sl_json_append_text (list->out, "vendor", device->vendor);
  sl_json_append_text (list->out, "memory", device->memory);
  sl_json_append_text (list->out, "provider", device->provider);
  g_string_append_c (list->out, '}');
}

static void
take_device (const SlExternalDevice *device, gpointer data)
{
  List *list = data;
  if (list->json)
    append_json (list, device);
  else
    append_text (list, device);
  list->n++;
}

/* (nullable): the version; else what is missing is printed. @list: the devices */
static const char *
look_at (const char *runtime, List *list, const char **library, char **missing)
{
  g_autoptr (GError) error = NULL;
  const char *version = sl_external_open (runtime, library, &error);
  if (version != NULL && !sl_external_list_devices (runtime, NULL, take_device, list, &error))
    version = NULL;
  if (version == NULL)
    *missing = sl_printable_message (error->message);
  return version;
}

static void
print_runtime (const Options *options, const char *runtime, gboolean is_first)
{
  const char *library = NULL;
  g_autofree char *missing = NULL;
  g_autoptr (GString) devices = g_string_new (NULL), json = g_string_new (NULL);
  List list = { options->json, devices, 0 };
  const char *version = look_at (runtime, &list, &library, &missing);
  if (!options->json) {
    if (version != NULL)
      g_string_append_printf (options->out, "%s: %s %s, %s\n%s", runtime,
                              sl_external_title (runtime), version, library, devices->str);
    else
      g_string_append_printf (options->out, "%s: missing: %s\n", runtime, missing);
    return;
  }
  sl_json_append_string (json, runtime);
  g_string_prepend (json, "{\"name\":");
  sl_json_append_text (json, "version", version);
  sl_json_append_text (json, "library", version != NULL ? library : NULL);
  sl_json_append_text (json, "missing", missing);
  g_string_append_printf (options->out, "%s%s,\"devices\":[%s]}", is_first ? "" : ",", json->str,
                          devices->str);
}

/* What device=auto means for the model: @choice is a sentence. */
static gboolean
choose_device (const Options *options, char **choice, GError **error)
{
  const SlModelLoadOptions how = { .backend = { .backend = SL_BACKEND_AUTO,
                                                .provider_library = options->library,
                                                .device = SL_DEVICE_AUTO } };
  g_autoptr (SlModel) model = sl_model_load_with (options->model, NULL, &how, error);
  if (model == NULL)
    return FALSE;
  *choice = sl_printable_message (sl_model_device_choice (model));
  return TRUE;
}

static int
print_library (const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) devices = g_string_new (NULL);
  List list = { options->json, devices, 0 };
  if (!sl_external_list_devices ("onnxruntime", options->library, take_device, &list, &error))
    return sl_complain (NAME, "%s", error->message);
  g_autofree char *choice = NULL;
  if (options->model != NULL && !choose_device (options, &choice, &error))
    return sl_complain (NAME, "%s", error->message);
  if (!options->json) {
    g_string_append_printf (options->out, "%s%s%s", devices->str, choice != NULL ? choice : "",
                            choice != NULL ? "\n" : "");
    return SL_EXIT_OK;
  }
  g_autoptr (GString) json = g_string_new (NULL);
  g_string_append_printf (json, "{\"devices\":[%s]", devices->str);
  if (choice != NULL)
    sl_json_append_text (json, "auto", choice);
  g_string_append_printf (options->out, "%s}\n", json->str);
  return SL_EXIT_OK;
}

static int
list_all (const Options *options)
{
  static const char *const runtimes[] = { "onnxruntime", "tflite" };
  if (options->json)
    g_string_append_printf (options->out, "{\"runtimes\":[");
  else
    g_string_append_printf (options->out, "sightline: Sightline " SL_VERSION ", the processor\n");
  for (guint i = 0; SL_KEEPS (runtime, onnxruntime) && i < G_N_ELEMENTS (runtimes); i++)
    print_runtime (options, runtimes[i], i == 0);
  if (options->json)
    g_string_append_printf (options->out, "]}\n");
  return SL_EXIT_OK;
}

/* What libraries print goes to the standard error meanwhile: programs read the standard output. */
static int
print_quietly (Options *options)
{
  fflush (stdout);
  const int before = dup (STDOUT_FILENO);
  g_autoptr (GString) out = options->out = g_string_new (NULL);
  if (before >= 0)
    dup2 (STDERR_FILENO, STDOUT_FILENO);
  const int status = options->library != NULL ? print_library (options) : list_all (options);
  fflush (stdout);
  if (before >= 0) {
    dup2 (before, STDOUT_FILENO);
    close (before);
  }
  fputs (out->str, stdout);
  return status;
}

static int
run_backends (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  const GOptionEntry entries[] = {
    { "provider-library", 0, 0, G_OPTION_ARG_FILENAME, &options.library,
      "List the devices of this library with an execution provider of ONNX Runtime", "FILE.so" },
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model,
      "Measure this model on these devices: what device=auto takes, and why", "MODEL" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL },
  };
  int status = sl_options_parse (
    NAME, "", "Lists the runtimes that can run models, and their devices.",
    "Exit status: 0 listed, 1 the provider's library or the model cannot be used.", argc, argv,
    entries, NULL, &rest);
  if (status < 0 && rest[0] != NULL)
    status = sl_options_usage (NAME, "expected no arguments, got '%s'", rest[0]);
  if (status < 0 && options.model != NULL && options.library == NULL)
    status = sl_options_usage (NAME, "--model goes with --provider-library; state that, too");
  if (status < 0 && options.library != NULL && !SL_KEEPS (runtime, onnxruntime))
    status = sl_complain (
      NAME, "the runtimes of others are left out of this build, by meson's option runtimes");
  if (status < 0)
    status = print_quietly (&options);
  g_free (options.library);
  g_free (options.model);
  return status;
}

const SlCommand sl_command_backends = { NAME, "list the runtimes and devices for models",
                                        run_backends };
