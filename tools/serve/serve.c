/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline serve`: the options, and the life of a worker: models are loaded, work is done until a
 * signal comes, what was taken is answered. Meanwhile the main thread tells the service manager and
 * the page how the worker is.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "core/base/secretfile.h"
#include "pipelines/gallery/rules.h"
#include "pipelines/remote/topics.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/run/log.h"
#include "tools/run/notify.h"
#include "tools/serve/http.h"
#include "tools/serve/zmq_endpoint.h"
#include "tools/signals.h"

#define DEFAULT_QUEUE 32
/* How long Frigate waits unless its configuration says otherwise. */
#define DEFAULT_PATIENCE_MS 200
#define DEFAULT_BODY_MIB 16
/* How often a worker is looked at, until it serves and then. */
#define POLL_MS 50
#define SERVING_POLL_MS 250
#define REPORT_US (G_USEC_PER_SEC / 2)
#define DRAIN_US (30 * G_USEC_PER_SEC)
/* Without an answer, while requests wait: longer than any model takes for a run, so that a service
 * manager may start the worker again. */
#define HUNG_US (120 * G_USEC_PER_SEC)

typedef struct
{
  SlModelOptions model;
  SlHttpOptions http;
  char *endpoint, *label_map, *patience_text, *threshold_text, *key_file, *body_text, *faces,
    *gallery, *gallery_key, *keep;
  gint64 keep_us;
  char *location, *password_file, *ca_file, *certificate, *key, *name, *jobs_text, *queue_text,
    *batch_text;
  char *password;
  guint jobs, queue, batch, patience_ms, body_mib;
  gdouble threshold;
  gboolean replace, json;
} Options;

/* What is reported about the worker, and the receivers. */
typedef struct
{
  SlManager manager;
  SlServeHttp *http;     /* (nullable) */
  SlServeReport *report; /* (nullable): the last one */
  gint64 reported, watchdog_told;
  guint64 watchdog;
  gboolean ready;
} Teller;

static void
options_clear (Options *options)
{
  sl_model_options_clear (&options->model);
  sl_http_options_clear (&options->http);
  g_free (options->endpoint);
  g_free (options->label_map);
  g_free (options->patience_text);
  g_free (options->threshold_text);
  g_free (options->key_file);
  g_free (options->faces);
  g_free (options->gallery);
  g_free (options->gallery_key);
  g_free (options->keep);
  g_free (options->body_text);
  g_free (options->location);
  g_free (options->password_file);
  g_free (options->ca_file);
  g_free (options->certificate);
  g_free (options->key);
  g_free (options->name);
  g_free (options->jobs_text);
  g_free (options->queue_text);
  g_free (options->batch_text);
  g_free (options->password);
}

static int
parse (Options *o, int argc, char **argv, GStrv *models)
{
  const GOptionEntry entries[] = {
    { "location", 0, 0, G_OPTION_ARG_STRING, &o->location,
      "The broker and the prefix of all topics, such as mqtts://worker@broker/models", "URI" },
    SL_TEXT_ENTRY (
      "zmq", &o->endpoint,
      "In place of a broker: listen for Frigate's zmq detector at this address of ZeroMQ, "
      "such as ipc:///run/sightline/detector",
      "ENDPOINT"),
    { "label-map", 0, 0, G_OPTION_ARG_FILENAME, &o->label_map,
      "With --zmq: the label map of Frigate, whose class numbers the answers have (default: the "
      "model's)",
      "FILE" },
    SL_TEXT_ENTRY ("threshold", &o->threshold_text,
                   "With --zmq: least confidence of an object, 0..1 (default: the decoder's)", "X"),
    SL_TEXT_ENTRY ("zmq-timeout", &o->patience_text,
                   "With --zmq: how long a client waits, 1..60000 ms (default 200)", "MS"),
    { "password-file", 0, 0, G_OPTION_ARG_FILENAME, &o->password_file,
      "File with the password in one line", "FILE" },
    { "ca-file", 0, 0, G_OPTION_ARG_FILENAME, &o->ca_file,
      "PEM file of the authorities that sign the broker's certificate (default: the system's)",
      "FILE" },
    { "certificate", 0, 0, G_OPTION_ARG_FILENAME, &o->certificate,
      "PEM file of this worker's certificate", "FILE" },
    { "private-key", 0, 0, G_OPTION_ARG_FILENAME, &o->key, "PEM file of this worker's key",
      "FILE" },
    { "name", 0, 0, G_OPTION_ARG_STRING, &o->name,
      "The worker's name, unique at the broker (default: the machine's name and a number)",
      "NAME" },
    { "threads", 0, 0, G_OPTION_ARG_STRING, &o->model.settings.threads,
      "Threads that run a model, 1..64 or auto (0 = auto; default 1)", "N" },
    { "jobs", 0, 0, G_OPTION_ARG_STRING, &o->jobs_text,
      "Frames that are computed at the same time, 1..64 (default 1)", "N" },
    { "queue", 0, 0, G_OPTION_ARG_STRING, &o->queue_text,
      "Frames that may wait in this worker before others get them, 1..1024 (default 32)", "N" },
    { "batch", 0, 0, G_OPTION_ARG_STRING, &o->batch_text,
      "Waiting frames that are computed in one run, 1..64, or auto: the fastest number, measured "
      "at the start (default 1)",
      "N" },
    { "replace", 0, 0, G_OPTION_ARG_NONE, &o->replace,
      "Replace the contract of another model at the broker", NULL },
    SL_HTTP_OPTIONS (o->http,
                     "Serve a web page with the state of the worker, at http://ADDR:PORT/; without "
                     "--location and --zmq also take pictures there, as DeepStack does"),
    { "api-key-file", 0, 0, G_OPTION_ARG_FILENAME, &o->key_file,
      "With --http for pictures: file with the key that clients send as api_key", "FILE" },
    SL_TEXT_ENTRY ("http-body", &o->body_text,
                   "With --http for pictures: bytes of a request, 1..256 MiB (default 16)", "MIB"),
    { "faces", 0, 0, G_OPTION_ARG_FILENAME, &o->faces,
      "With --http for pictures, a model called face and --gallery: the model whose embeddings "
      "tell people apart",
      "MODEL" },
    { "gallery", 0, 0, G_OPTION_ARG_FILENAME, &o->gallery,
      "With --faces: the file of the people that clients register, as slgallery has it; one that "
      "is missing is made",
      "FILE" },
    SL_TEXT_ENTRY ("keep", &o->keep,
                   "With --gallery: time after which a person is erased, such as 365d or 12h",
                   "TIME"),
    { "gallery-key-file", 0, 0, G_OPTION_ARG_FILENAME, &o->gallery_key,
      "With --gallery: file with the key that embeddings and names are encrypted with", "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &o->json,
      "Log JSON objects, one a line, to standard error", NULL },
    { NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
  };
  g_autofree GOptionEntry *more = sl_model_options_entries (
    &o->model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS | SL_SETTINGS_WORDS);
  const int status = sl_options_parse (
    "serve", "MODEL...",
    "Runs models for other programs: cameras that send tensors through an MQTT broker (slremote), "
    "Frigate (--zmq), or clients that post pictures (--http).",
    "MODEL is a file, or NAME=FILE; cameras ask for NAME, or for the file's name without its "
    "extension. SIGTERM ends it when all that was taken is answered.",
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

/* The server reads it as its password. Said here, the message names the option. */
static gboolean
check_key (const Options *o)
{
  g_autofree char *warning = NULL;
  g_autoptr (GError) error = NULL;
  if (o->key_file == NULL)
    return TRUE;
  g_autofree char *key = sl_secret_file_read (o->key_file, &warning, &error);
  if (key == NULL)
    sl_complain ("serve", "--api-key-file: %s", error->message);
  return key != NULL;
}

/* Whether pictures come by HTTP. */
static gboolean
takes_pictures (const Options *o)
{
  return o->http.listen != NULL && o->location == NULL && o->endpoint == NULL;
}

/* What faces need and is not there, or is there and does not go with them; NULL: nothing. */
static const char *
find_wrong_with_faces (const Options *o)
{
  if (o->faces == NULL && o->gallery == NULL && o->keep == NULL && o->gallery_key == NULL)
    return NULL;
  return o->faces == NULL         ? "--faces is missing"
         : o->gallery == NULL     ? "--gallery is missing"
         : o->keep == NULL        ? "--keep is missing"
         : o->location != NULL    ? "--location is given"
         : o->endpoint != NULL    ? "--zmq is given"
         : o->http.listen == NULL ? "--http is missing"
                                  : NULL;
}

/* What belongs to pictures by HTTP. The key is the password of the page, too. -1 to go on. */
static int
check_pictures (Options *o)
{
  o->body_mib = DEFAULT_BODY_MIB;
  if (!sl_options_integer ("serve", "--http-body", o->body_text, 1, 256, &o->body_mib))
    return SL_EXIT_USAGE;
  if (!takes_pictures (o) && (o->key_file != NULL || o->body_text != NULL))
    return sl_options_usage (
      "serve",
      "--api-key-file and --http-body go with --http ADDR:PORT, without --location and --zmq");
  g_autoptr (GError) error = NULL;
  if (o->keep != NULL && !sl_identity_rules_keep (o->keep, &o->keep_us, &error))
    return sl_options_usage ("serve", "--%s", error->message);
  const char *wrong = find_wrong_with_faces (o);
  if (wrong != NULL)
    return sl_options_usage (
      "serve",
      "%s: --faces MODEL, --gallery FILE and --keep TIME go together, with --http ADDR:PORT, "
      "without --location and --zmq",
      wrong);
  if (o->key_file != NULL && o->http.password_file != NULL)
    return sl_options_usage (
      "serve",
      "expected either --api-key-file or --http-password-file, got both: the key is the password "
      "of the page, too");
  if (o->key_file != NULL)
    o->http.password_file = g_strdup (o->key_file);
  return -1;
}

/* What belongs to one of the doors. -1 to go on. */
static int
check_door (Options *o, guint n_models)
{
  g_autoptr (GError) error = NULL;
  o->patience_ms = DEFAULT_PATIENCE_MS;
  o->threshold = -1;
  if (o->location == NULL && o->endpoint == NULL && !takes_pictures (o))
    return sl_options_usage (
      "serve", "expected --location, such as --location " SL_SERVE_EXAMPLE
               ", --zmq, such as --zmq ipc:///run/sightline/detector, or --http, such as --http "
               "127.0.0.1:5000");
  if (o->location != NULL && o->endpoint != NULL)
    return sl_options_usage ("serve", "expected either --location or --zmq, got both");
  if (!sl_options_integer ("serve", "--zmq-timeout", o->patience_text, 1, 60000, &o->patience_ms)
      || !sl_options_fraction ("serve", "--threshold", o->threshold_text, &o->threshold))
    return SL_EXIT_USAGE;
  if (o->endpoint == NULL
      && (o->label_map != NULL || o->patience_text != NULL || o->threshold_text != NULL))
    return sl_options_usage ("serve", "--label-map, --threshold and --zmq-timeout go with --zmq");
  if (o->endpoint != NULL && !sl_zmq_endpoint_check (o->endpoint, &error))
    return sl_options_usage ("serve", "%s", error->message);
  if (o->endpoint != NULL && n_models > 1)
    return sl_options_usage (
      "serve", "expected one model with --zmq, got %u: Frigate's requests name none", n_models);
  return -1;
}

/* -1 to go on. */
static int
check (Options *o, GStrv models)
{
  const guint n = g_strv_length (models);
  g_auto (SlHttpSettings) http = { 0 };
  g_autoptr (GError) error = NULL;
  o->jobs = 1;
  o->queue = DEFAULT_QUEUE;
  if (n == 0)
    return sl_options_usage ("serve", "expected at least one model file");
  int status = check_pictures (o);
  if (status < 0)
    status = check_door (o, n);
  if (status >= 0)
    return status;
  const guint n_all = n + (o->faces != NULL);
  if (n_all > 1 && sl_model_options_state (&o->model, SL_SETTINGS_CONTRACT | SL_SETTINGS_WORDS))
    return sl_options_usage (
      "serve",
      "options about a model are for one model, and %u are given: write them into MODEL.modelinfo",
      n_all);
  if (!sl_options_integer ("serve", "--jobs", o->jobs_text, 1, 64, &o->jobs)
      || !sl_options_integer ("serve", "--queue", o->queue_text, 1, 1024, &o->queue)
      || !sl_model_options_check ("serve", &o->model))
    return SL_EXIT_USAGE;
  const gboolean best = g_strcmp0 (o->batch_text, "auto") == 0;
  o->batch = best ? 0 : 1;
  if (!best && !sl_options_integer ("serve", "--batch", o->batch_text, 1, 64, &o->batch))
    return SL_EXIT_USAGE;
  if (!sl_http_options_apply (&o->http, "--http", &http, &error)
      || !sl_http_options_check (&o->http, &error))
    return sl_options_usage ("serve", "%s", error->message);
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
  if (sl_mqtt_target_parse (&target, access, SL_SERVE_EXAMPLE, &error)
      && sl_remote_check_prefix (target.topic, &error))
    prefix = g_strdup (target.topic);
  else
    sl_complain ("serve", "%s", error->message);
  sl_mqtt_target_clear (&target);
  return prefix;
}

/* Cameras at the broker decode by the contract, which is too small for embeddings. */
static gboolean
check_words (const Options *o, const SlContract *contract)
{
  if (o->location == NULL || contract->words.numbers == NULL)
    return TRUE;
  sl_complain (
    "serve",
    "%s: its embedding is compared with those of prompts, which contracts at a broker do "
    "not have; expected a model that takes embeddings as an input, or --http or --zmq in "
    "place of --location",
    contract->model);
  return FALSE;
}

static gboolean
load_model (const Options *o, const char *argument, const char *prefix, GPtrArray *models)
{
  g_autoptr (GError) error = NULL;
  const SlModelLoadOptions options = sl_model_options_load (&o->model, TRUE);
  SlServedModel *served =
    sl_served_model_new (argument, prefix, &o->model.settings, &options, &error);
  if (served == NULL) {
    sl_complain ("serve", "%s", error->message);
    return FALSE;
  }
  if (!check_words (o, served->contract)) {
    sl_served_model_free (served);
    return FALSE;
  }
  for (guint k = 0; k < models->len; k++)
    if (g_str_equal (((SlServedModel *) g_ptr_array_index (models, k))->name, served->name)) {
      sl_complain ("serve", "two models are called %s: name one, as NAME=FILE", served->name);
      sl_served_model_free (served);
      return FALSE;
    }
  g_ptr_array_add (models, served);
  g_autofree char *summary = sl_contract_summary (served->contract);
  sl_run_log (SL_LOG_INFO, served->name, "loaded", "%s/%s: %s (%s)", prefix, served->name, summary,
              served->hash);
  return TRUE;
}

/* The one of --faces is the last. */
static GPtrArray *
load_models (const Options *o, GStrv arguments, const char *prefix)
{
  g_autoptr (GPtrArray) models =
    g_ptr_array_new_with_free_func ((GDestroyNotify) sl_served_model_free);
  for (guint i = 0; arguments[i] != NULL; i++)
    if (!load_model (o, arguments[i], prefix, models))
      return NULL;
  if (o->faces != NULL && !load_model (o, o->faces, prefix, models))
    return NULL;
  return g_steal_pointer (&models);
}

/* What the service manager is told: that requests are taken, how many are answered, and that no
 * model hangs. */
static void
tell_manager (Teller *teller, const SlServeReport *report)
{
  GString *state = g_string_new (NULL);
  gdouble rate = 0;
  for (guint i = 0; i < report->models->len; i++)
    rate += ((const SlServeModel *) report->models->pdata[i])->rate;
  if (!teller->ready && report->state == SL_SERVE_SERVING) {
    teller->ready = TRUE;
    g_string_append (state, "READY=1\n");
  }
  if (teller->watchdog > 0 && report->stuck < HUNG_US
      && report->made - teller->watchdog_told >= (gint64) teller->watchdog) {
    teller->watchdog_told = report->made;
    g_string_append (state, "WATCHDOG=1\n");
  }
  g_string_append_printf (state, "STATUS=%s, %.1f answers a second, %u requests wait",
                          sl_serve_state_name (report->state), rate, report->waiting);
  sl_manager_tell (&teller->manager, state->str);
  g_string_free (state, TRUE);
}

/* To be called some times a second. */
static void
tell (Teller *teller, SlServeWorker *worker)
{
  const gint64 now = g_get_monotonic_time ();
  sl_manager_tell_rest (&teller->manager);
  const gboolean first = !teller->ready && sl_serve_worker_state (worker) == SL_SERVE_SERVING;
  if (teller->report != NULL && !first
      && now - teller->reported
           < MIN (REPORT_US, teller->watchdog > 0 ? (gint64) teller->watchdog : REPORT_US))
    return;
  SlServeReport *before = teller->report;
  teller->report = sl_serve_report_new (worker, before);
  teller->reported = now;
  g_clear_pointer (&before, sl_serve_report_unref);
  tell_manager (teller, teller->report);
  if (teller->http != NULL)
    sl_serve_http_report (teller->http, teller->report);
}

/* Returns whether all that was taken is answered. The page says meanwhile that the worker leaves.
 */
static gboolean
drain (SlServeWorker *worker, const Teller *teller)
{
  g_autoptr (SlServeReport) report = sl_serve_report_new (worker, teller->report);
  report->state = SL_SERVE_LEAVING;
  if (teller->http != NULL)
    sl_serve_http_report (teller->http, report);
  const gint64 begun = g_get_monotonic_time ();
  if (sl_serve_worker_drain (worker, DRAIN_US))
    return TRUE;
  if (g_get_monotonic_time () - begun < DRAIN_US)
    sl_run_log (
      SL_LOG_ERROR, NULL, "undrained",
      "the connection broke before all that was taken was answered: cameras ask other workers, or "
      "again");
  else
    sl_run_log (
      SL_LOG_ERROR, NULL, "undrained",
      "the broker or the model took longer than %d s: frames that were taken are not answered",
      (int) (DRAIN_US / G_USEC_PER_SEC));
  return FALSE;
}

/* A signal ends it early. The service manager is told in time: its interval has four waits. */
static void
wait_a_little (const Teller *teller)
{
  const guint64 quarter_ms = teller->watchdog > 0 ? teller->watchdog / 4000 : SERVING_POLL_MS;
  poll (NULL, 0, teller->ready ? (int) CLAMP (quarter_ms, 1, SERVING_POLL_MS) : POLL_MS);
}

static int
work_until_told (SlServeWorker *worker, Teller *teller)
{
  const char *failed;
  while (!sl_interrupted () && sl_serve_worker_failed (worker) == NULL) {
    tell (teller, worker);
    wait_a_little (teller);
  }
  failed = sl_serve_worker_failed (worker);
  if (failed != NULL)
    sl_run_log (SL_LOG_ERROR, NULL, "failed", "%s", failed);
  sl_manager_tell (&teller->manager, "STOPPING=1");
  const gboolean drained = failed != NULL || drain (worker, teller);
  return failed != NULL || !drained ? SL_EXIT_FAILED : SL_EXIT_OK;
}

static int
work (const Options *o, const SlMqttAccess *access, GPtrArray *models)
{
  const SlServePictures pictures = { (gsize) o->body_mib << 20, o->key_file != NULL };
  SlServeSettings settings = { .access = *access,
                               .endpoint = o->endpoint,
                               .label_map = o->label_map,
                               .patience_ms = o->patience_ms,
                               .threshold = o->threshold,
                               .name = o->name,
                               .threads = o->model.threads,
                               .jobs = o->jobs,
                               .queue = o->queue,
                               .batch = o->batch,
                               .replace = o->replace };
  if (o->faces != NULL) {
    const SlServedModel *last = models->pdata[models->len - 1];
    settings.faces = (SlServeFaces){ last->name, o->gallery, o->gallery_key, o->keep_us };
  }
  g_autoptr (GError) error = NULL;
  Teller teller = { .watchdog = sl_notify_watchdog_interval () };
  int status = SL_EXIT_FAILED;
  if (o->http.listen != NULL)
    teller.http = sl_serve_http_new (&o->http, takes_pictures (o) ? &pictures : NULL, &error);
  if (teller.http != NULL)
    settings.pictures = sl_serve_http_pictures (teller.http);
  SlServeWorker *worker = error == NULL ? sl_serve_worker_new (&settings, models, &error) : NULL;
  if (worker == NULL)
    sl_complain ("serve", "%s", error->message);
  else
    status = work_until_told (worker, &teller);
  sl_serve_worker_free (worker); /* first: its threads write lines that the page shows */
  sl_serve_http_free (teller.http);
  g_clear_pointer (&teller.report, sl_serve_report_unref);
  sl_manager_clear (&teller.manager);
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
  if (status < 0 && !(read_password (&o) && check_key (&o)))
    status = SL_EXIT_FAILED;
  if (status < 0) {
    sl_run_log_init (o.json);
    sl_interrupt_catch (0); /* models take a while to load */
    sl_signals_release ();
    signal (SIGPIPE, SIG_IGN); /* a browser that goes away is no matter of the worker's */
    signal (SIGXFSZ, SIG_IGN); /* a gallery that may not grow is an error of its writer */
    const SlMqttAccess access = { .location = o.location,
                                  .password = o.password,
                                  .ca_file = o.ca_file,
                                  .certificate = o.certificate,
                                  .key = o.key };
    g_autofree char *prefix = o.endpoint != NULL    ? g_strdup ("zmq")
                              : takes_pictures (&o) ? g_strdup ("http")
                                                    : find_prefix (&access);
    g_autoptr (GPtrArray) models = prefix != NULL ? load_models (&o, arguments, prefix) : NULL;
    if (prefix == NULL)
      status = SL_EXIT_USAGE;
    else
      status = models != NULL ? work (&o, &access, models) : SL_EXIT_FAILED;
  }
  options_clear (&o);
  return status;
}

const SlCommand sl_command_serve = {
  "serve", "run models for other machines, for Frigate, and for pictures by HTTP", serve_run
};
