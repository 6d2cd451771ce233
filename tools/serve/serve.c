/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline serve`: the options, and the life of a worker: models are loaded, work is done until a signal comes, what was taken is answered.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/secretfile.h"
#include "remote/topics.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/serve/worker.h"

#define DEFAULT_QUEUE 32
#define POLL_US 50000
#define DRAIN_US (30 * G_USEC_PER_SEC)

typedef struct
{
  SlModelOptions model;
  char *location, *password_file, *ca_file, *certificate, *key, *name, *jobs_text, *queue_text;
  char *password;
  guint jobs, queue;
  gboolean replace;
} Options;

static void
options_clear (Options *options)
{
  sl_model_options_clear (&options->model);
  g_free (options->location);
  g_free (options->password_file);
  g_free (options->ca_file);
  g_free (options->certificate);
  g_free (options->key);
  g_free (options->name);
  g_free (options->jobs_text);
  g_free (options->queue_text);
  g_free (options->password);
}

static int
parse (Options *o, int argc, char **argv, GStrv *models)
{
  const GOptionEntry entries[] = {
    { "location", 0, 0, G_OPTION_ARG_STRING, &o->location, "The broker and the prefix of all topics, such as mqtts://worker@broker/models",
      "URI" },
    { "password-file", 0, 0, G_OPTION_ARG_FILENAME, &o->password_file, "File whose one line is the password", "FILE" },
    { "ca-file", 0, 0, G_OPTION_ARG_FILENAME, &o->ca_file,
      "PEM file of the authorities that sign the broker's certificate (default: the system's)", "FILE" },
    { "certificate", 0, 0, G_OPTION_ARG_FILENAME, &o->certificate, "PEM file of this worker's certificate", "FILE" },
    { "private-key", 0, 0, G_OPTION_ARG_FILENAME, &o->key, "PEM file of this worker's key", "FILE" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o->name, "The worker's name, its own at the broker (default: the machine's name and a number)",
      "NAME" },
    { "threads", 0, 0, G_OPTION_ARG_STRING, &o->model.threads_text, "Threads that run a model, 1..64 or auto (default 1)", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_STRING, &o->jobs_text, "Frames that are computed at the same time, 1..64 (default 1)", "N" },
    { "queue", 0, 0, G_OPTION_ARG_STRING, &o->queue_text, "Frames that wait here before others get them, 1..1024 (default 32)", "N" },
    { "replace", 0, 0, G_OPTION_ARG_NONE, &o->replace, "Replace a contract that other workers left at the broker", NULL },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  g_autofree GOptionEntry *more = sl_model_options_entries (&o->model);
  const int status = sl_options_parse (
    "serve", "MODEL...", "Run models for cameras on other machines, which ask through an MQTT broker (slremote)",
    "MODEL is a file, or NAME=FILE; cameras ask for NAME, or for the file's name without its extension. SIGTERM ends it when all that was "
    "taken is answered.",
    argc, argv, entries, more, models);
  return status;
}

static gboolean
read_password (Options *o)
{
  g_autofree char *warning = NULL;
  g_autoptr (GError) error = NULL;
  if (o->password_file == NULL)
    return TRUE;
  o->password = sl_secret_file_read (o->password_file, &warning, &error);
  if (warning != NULL)
    sl_complain ("serve", "--password-file: %s", warning);
  if (o->password == NULL)
    sl_complain ("serve", "--password-file: %s", error->message);
  return o->password != NULL;
}

static gboolean
has_overrides (const SlModelOptions *o)
{
  return o->labels != NULL || o->mean != NULL || o->std != NULL || o->colour != NULL || o->fit != NULL || o->layout != NULL
         || o->decoder != NULL;
}

/* -1 to go on. */
static int
check (Options *o, GStrv models)
{
  const guint n = g_strv_length (models);
  o->jobs = 1;
  o->queue = DEFAULT_QUEUE;
  if (n == 0)
    return sl_options_usage ("serve", "expected at least one model file");
  if (o->location == NULL)
    return sl_options_usage ("serve", "expected --location, such as --location " SL_SERVE_EXAMPLE);
  if (n > 1 && has_overrides (&o->model))
    return sl_options_usage ("serve", "options about a model are for one model, and %u are given: write them into MODEL.modelinfo", n);
  if (!sl_options_threads ("serve", "--threads", o->model.threads_text, &o->model.threads)
      || !sl_options_integer ("serve", "--jobs", o->jobs_text, 1, 64, &o->jobs)
      || !sl_options_integer ("serve", "--queue", o->queue_text, 1, 1024, &o->queue) || !sl_model_options_check ("serve", &o->model))
    return SL_EXIT_USAGE;
  if (o->name == NULL)
    o->name = g_strdup_printf ("%s-%08x", g_get_host_name (), g_random_int ());
  g_autofree char *name = o->name;
  o->name = sl_remote_name (name);
  return -1;
}

/* (transfer full): the topic of the location; NULL after a complaint. */
static char *
find_prefix (const SlMqttAccess *access)
{
  g_autoptr (GError) error = NULL;
  SlMqttTarget target = { NULL };
  char *prefix = NULL;
  if (sl_mqtt_target_parse (&target, access, SL_SERVE_EXAMPLE, &error) && sl_remote_check_prefix (target.topic, &error))
    prefix = g_strdup (target.topic);
  else
    sl_complain ("serve", "%s", error->message);
  sl_mqtt_target_clear (&target);
  return prefix;
}

static GPtrArray *
load_models (const Options *o, GStrv arguments, const char *prefix)
{
  g_autoptr (GPtrArray) models = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_served_free);
  const SlContractOverrides overrides = sl_model_options_overrides (&o->model);
  const SlModelLoadOptions options = sl_limit_options_load (&o->model.limits, TRUE);
  for (guint i = 0; arguments[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    SlServed *served = sl_served_new (arguments[i], prefix, &overrides, &options, &error);
    if (served == NULL) {
      sl_complain ("serve", "%s", error->message);
      return NULL;
    }
    for (guint k = 0; k < models->len; k++)
      if (g_str_equal (((SlServed *) g_ptr_array_index (models, k))->name, served->name)) {
        sl_complain ("serve", "two models are called %s: name one, as NAME=FILE", served->name);
        sl_served_free (served);
        return NULL;
      }
    g_ptr_array_add (models, served);
    g_autofree char *summary = sl_contract_summary (served->contract);
    g_printerr ("sightline serve: %s/%s: %s (%s)\n", prefix, served->name, summary, served->hash);
  }
  return g_steal_pointer (&models);
}

static int
work (const Options *o, const SlMqttAccess *access, GPtrArray *models)
{
  const SlServeSettings settings = { *access, o->name, o->model.threads, o->jobs, o->queue, o->replace };
  g_autoptr (GError) error = NULL;
  SlServeWorker *worker = sl_serve_worker_new (&settings, models, &error);
  if (worker == NULL) {
    sl_complain ("serve", "%s", error->message);
    return SL_EXIT_FAILED;
  }
  sl_interrupt_catch (0);
  while (!sl_interrupted () && sl_serve_worker_failed (worker) == NULL)
    g_usleep (POLL_US);
  const char *failed = sl_serve_worker_failed (worker);
  if (failed != NULL)
    sl_complain ("serve", "%s", failed);
  const gint64 begun = g_get_monotonic_time ();
  const gboolean drained = failed != NULL || sl_serve_worker_drain (worker, DRAIN_US);
  if (!drained && g_get_monotonic_time () - begun < DRAIN_US)
    sl_complain ("serve", "the connection broke before all that was taken was answered: cameras ask other workers, or again");
  else if (!drained)
    sl_complain ("serve", "the broker or the model took longer than %d s: frames that were taken are not answered",
                 (int) (DRAIN_US / G_USEC_PER_SEC));
  const int status = failed != NULL || !drained ? SL_EXIT_FAILED : SL_EXIT_OK;
  sl_serve_worker_free (worker);
  return status;
}

static int
serve_run (int argc, char **argv)
{
  g_auto (GStrv) arguments = NULL;
  Options o = { .location = NULL };
  int status = parse (&o, argc, argv, &arguments);
  if (status < 0)
    status = check (&o, arguments);
  if (status < 0 && !read_password (&o))
    status = SL_EXIT_FAILED;
  if (status < 0) {
    const SlMqttAccess access = {
      .location = o.location, .password = o.password, .ca_file = o.ca_file, .certificate = o.certificate, .key = o.key
    };
    g_autofree char *prefix = find_prefix (&access);
    g_autoptr (GPtrArray) models = prefix != NULL ? load_models (&o, arguments, prefix) : NULL;
    status = models != NULL ? work (&o, &access, models) : SL_EXIT_FAILED;
  }
  options_clear (&o);
  return status;
}

const SlCommand sl_command_serve = { "serve", "run models for cameras on other machines, through an MQTT broker", serve_run };
