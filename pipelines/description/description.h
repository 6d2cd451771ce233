/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlDescription: a pipeline description file with its includes and drop-ins, merged, and with
 * parameters substituted. It does not use GStreamer: launch lines and element properties are text
 * here, and build.h makes a pipeline from them. It is immutable and shared. docs/pipelines.md has
 * the grammar.
 */
#pragma once

#include "pipelines/description/parameter.h"
#include "postprocess/analyze/regions.h"

/** When a pipeline is restarted after its end. */
typedef enum
{
  SL_RESTART_NO,
  SL_RESTART_ON_FAILURE, /* after an error, or after the watchdog found a stall */
  SL_RESTART_ALWAYS      /* also after the end of its stream */
} SlRestart;

/** The @element of settings in the group [record]: they are for its slrecord. */
#define SL_RECORDER ""
/** The @element of settings in the group [redact]: they are for its slredact. */
#define SL_REDACTOR "[redact]"
/** The @element of settings in the group [publish]: they are for its slrestream. */
#define SL_RESTREAMER "[publish]"

/** The @element of settings in the group [notify]: they are for its slpublish. */
#define SL_NOTIFIER "[notify]"
/** The @element of settings in the group [push]: they are for its slpublish. */
#define SL_PUSHER "[push]"
/** Keys of [push] that the console reads, too. */
#define SL_PUSH_SUBSCRIPTIONS "subscriptions"
#define SL_PUSH_KEY "key"
#define SL_PUSH_SUBJECT "subject"
#define SL_PUSH_HOSTS "hosts"
/** SL_PUSH_NEEDS_HTTP: what there is to say of [push] where nothing is served. */
#define SL_PUSH_NEEDS_HTTP \
  "no phone can be added: expected [http] with listen=, whose page adds them, or --http"

/** The @element of settings in the group [gallery]: they are for its slgallery. */
#define SL_GALLERIST "[gallery]"
/** The @element of settings in the group [search], which are for no element of the pipeline. */
#define SL_SEARCHER "[search]"

/** One property of [element NAME], of [record] (@element is SL_RECORDER), of [redact]
 * (SL_REDACTOR), of [publish] (SL_RESTREAMER), of [notify] (SL_NOTIFIER), of [push] (SL_PUSHER), of
 * [gallery] (SL_GALLERIST) or of [search] (SL_SEARCHER), with its file and line.
 * @file is a GRefString. These groups themselves also have an entry, without @property. */
typedef struct
{
  char *element, *property, *value;
  char *file;
  guint line;
} SlElementOverride;

/**
 * SlHttpSettings: the group [http], the HTTP server of `sightline run`.
 * @listen: (nullable): ADDR:PORT; NULL = no server, unless the caller gives an address
 * @password_file: (nullable): a file whose one line is the password of every client
 * @certificate, @private_key: (nullable): PEM files, for TLS
 * @users: (nullable): a file of users with roles and password hashes, in place of one password
 * @role: (nullable): "look", "review" or "configure": of clients that need no password
 * @audit: (nullable): a file that lists who changed what
 * @proxy: (nullable): ADDR[/BITS] of a reverse proxy, whose headers are believed
 * @stall: milliseconds without a frame, at least 1, after which a running pipeline is reported as
 * not healthy
 * @frame_rate: most pictures per second, 0.1..60
 * @width: most pixels in a row of a picture, 64..3840
 * @viewers: most clients of the live picture at a time, 1..64
 * @file, @line: (nullable): the place of the group's last key; @file is a GRefString
 */
typedef struct
{
  char *listen, *password_file, *certificate, *private_key, *users, *role, *audit, *proxy;
  guint stall, width, viewers;
  gdouble frame_rate;
  char *file;
  guint line;
} SlHttpSettings;

/**
 * SlPromise: a group [budget] or [budget NAME].
 * @element: the name of an slpredict or slinfer; "" = of all that have no group of their own
 * @rate: frames a second; 0 = not stated
 * @priority: 1..10; 0 = not stated
 * @need: (nullable): as sl_need_parse() takes it
 * @file, @line: the place of the group's last key; @file is a GRefString
 */
typedef struct
{
  char *element, *file, *need;
  gdouble rate;
  guint priority, line;
} SlPromise;

/**
 * SlDescription:
 * @path: path of the file, as given
 * @name: [pipeline] name, else the file's name without ".pipeline"
 * @description: (nullable)
 * @launch: a gst-launch line
 * @launch_file, @launch_line: the file and the line of @launch
 * @backoff_min, @backoff_max: milliseconds before the first restart, and the most milliseconds
 * before later restarts
 * @watchdog: milliseconds without a frame after which a running pipeline counts as failed; 0 =
 * never
 * @start_timeout: the same for the first frame
 * @black_box: (nullable): folder where each slinfer writes black boxes
 * @state: (nullable): folder where counts are kept when the program ends
 * @privacy_strict: no branch of the pipeline may show an open picture
 * @cores: [budget] cores: processor seconds a second for all models of the process; 0 = not stated
 * @promises: of SlPromise, one for each group of a budget
 * @http: [http]
 * @parameters: of SlParameter, in the order of the files
 * @overrides: of SlElementOverride, one for each property
 * @regions: (nullable): the groups [zone NAME], [line NAME] and [mask NAME], as text for the
 * property regions of slanalyze
 * @regions_file, @regions_line: the place of the first of them
 * @files: every file and drop-in directory that was looked for, also missing ones. While they do
 * not change, the description does not change
 */
typedef struct
{
  /*< private >*/
  SlRegions *region_set; /* while files are read */
  SlPromise *promise;    /* while its group is read */
  /*< public, read only >*/
  char *path, *name, *description, *launch, *black_box, *state;
  char *launch_file;
  guint launch_line;
  SlRestart restart;
  guint backoff_min, backoff_max, watchdog, start_timeout;
  gboolean privacy_strict;
  gdouble cores;
  GArray *promises;
  SlHttpSettings http;
  GArray *parameters;
  GArray *overrides;
  char *regions, *regions_file;
  guint regions_line;
  GPtrArray *files;
} SlDescription;

/**
 * sl_description_load:
 * @path: a file; its drop-ins are PATH.d/\*.conf
 * @parameters: (nullable) (element-type utf8 utf8): values that replace the defaults
 *
 * Returns: (transfer full): NULL with @error set (SL_ERROR_OPEN, SL_ERROR_FORMAT, SL_ERROR_LIMIT,
 * SL_ERROR_ARGUMENT). The message begins with FILE:LINE: [group] key, as far as these are known
 */
SlDescription *sl_description_load (const char *path, GHashTable *parameters, GError **error);
/** sl_description_load_texts: the same; @texts are contents in place of files, as sl_sources_load()
 * has them. */
SlDescription *sl_description_load_texts (const char *path, GHashTable *parameters,
                                          GHashTable *texts, GError **error);
/** sl_description_new_from_string: as sl_description_load(), but reads @length bytes of @text (-1:
 * up to the NUL) instead of the file
 *  @path, without drop-ins. Includes and relative paths are relative to the folder of @path. */
SlDescription *sl_description_new_from_string (const char *text, gssize length, const char *path,
                                               GHashTable *parameters, GError **error);
/** sl_description_declared: (transfer full) (element-type utf8): the set of the parameter names of
 * the file at @path. NULL with @error set when the file cannot be read. */
GHashTable *sl_description_declared (const char *path, GError **error);
void sl_description_free (SlDescription *description);
/** sl_description_find: (transfer none) (nullable): the parameter @name. */
const SlParameter *sl_description_find (const SlDescription *description, const char *name);
/** sl_description_setting: (transfer none) (nullable): the value of @key in a group that is for an
 * element, such as SL_PUSHER. */
const char *sl_description_setting (const SlDescription *description, const char *group,
                                    const char *key);
/** sl_http_settings_copy: copies @from to @to, which is zeroed or cleared before. */
void sl_http_settings_copy (SlHttpSettings *to, const SlHttpSettings *from);
void sl_http_settings_clear (SlHttpSettings *settings);
/** sl_restart_name: "no", "on-failure", "always". */
const char *sl_restart_name (SlRestart restart);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDescription, sl_description_free)
