/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlDescription: a pipeline description file, its includes and its drop-ins, read, merged, and with parameters substituted.
 * Knows no GStreamer: launch lines and element properties are text here (build.h makes a pipeline of them). Immutable and shared;
 * the grammar is docs/pipelines.md.
 */
#ifndef SL_PIPELINES_DESCRIPTION_DESCRIPTION_H
#define SL_PIPELINES_DESCRIPTION_DESCRIPTION_H

#include "postprocess/analyze/regions.h"

G_BEGIN_DECLS

/** Includes within includes. */
#define SL_DESCRIPTION_MAX_DEPTH 8
/** Files that make one description, drop-ins among them. */
#define SL_DESCRIPTION_MAX_FILES 64
/** Parameters within the defaults of parameters. */
#define SL_DESCRIPTION_MAX_NESTING 16

/** When a pipeline that ended is started again. */
typedef enum
{
  SL_RESTART_NO,
  SL_RESTART_ON_FAILURE, /* after an error, or when the watchdog found it stalled */
  SL_RESTART_ALWAYS      /* and after the end of its stream */
} SlRestart;

typedef enum
{
  SL_PARAMETER_STRING,
  SL_PARAMETER_INTEGER,
  SL_PARAMETER_NUMBER,
  SL_PARAMETER_BOOLEAN,
  SL_PARAMETER_PATH, /* a default that is relative is relative to the file that states it */
  SL_PARAMETER_CHOICE
} SlParameterType;

/**
 * SlParameter:
 * @value: what is substituted
 * @is_default: @value is the file's, not the caller's, nor the environment's
 * @environment: (nullable): the environment's variable that has its value, where it is set and the caller gives none
 * @description: (nullable)
 * @choices: (nullable): of SL_PARAMETER_CHOICE
 * @minimum, @maximum: of integers and numbers
 */
typedef struct
{
  char *name, *value, *description, *environment;
  gboolean is_default, from_environment;
  SlParameterType type;
  GStrv choices;
  gdouble minimum, maximum;
} SlParameter;

/** No element's name: the slrecord of the group [record]. */
#define SL_RECORDER ""

/** One property of [element NAME], or of [record] (@element is SL_RECORDER), with the place that states it. @file is a GRefString.
 *  The group [record] itself is one, too, without @property. */
typedef struct
{
  char *element, *property, *value;
  char *file;
  guint line;
} SlElementOverride;

/**
 * SlHttpSettings: [http], what `sightline run` serves over HTTP.
 * @listen: (nullable): ADDR:PORT; NULL = nothing, unless the caller says where
 * @password_file: (nullable): a file whose one line is asked of every client
 * @certificate, @private_key: (nullable): PEM files, for TLS
 * @stall: milliseconds without a frame, at least 1, after which a running pipeline is not well
 * @frame_rate: pictures a second at most, 0.1..60
 * @width: pixels a row of a picture at most, 64..3840
 * @viewers: clients of the live picture at once, 1..64
 * @file, @line: (nullable): where the group's last key stands; @file is a GRefString
 */
typedef struct
{
  char *listen, *password_file, *certificate, *private_key;
  guint stall, width, viewers;
  gdouble frame_rate;
  char *file;
  guint line;
} SlHttpSettings;

/**
 * SlDescription:
 * @path: the file's, as given
 * @name: [pipeline] name, else the file's name without ".pipeline"
 * @description: (nullable)
 * @launch: a gst-launch line
 * @launch_file, @launch_line: where it stands
 * @backoff_min, @backoff_max: milliseconds before the first restart, and at most before later ones
 * @watchdog: milliseconds without a frame after which a running pipeline counts as failed; 0 = never
 * @start_timeout: the same for the first frame
 * @black_box: (nullable): folder in which each slinfer writes black boxes
 * @state: (nullable): folder in which counts outlive the program
 * @http: [http]
 * @parameters: of SlParameter, in the order of the files
 * @overrides: of SlElementOverride, one for each property
 * @regions: (nullable): the groups [zone NAME] and [line NAME] as slanalyze's property of that name has them; where the first of them stands
 * @files: every file and drop-in directory that was looked for, whether or not it exists: when none of them changed, neither did this
 */
typedef struct
{
  /*< private >*/
  SlRegions *region_set; /* while files are read */
  /*< public, read only >*/
  char *path, *name, *description, *launch, *black_box, *state;
  char *launch_file;
  guint launch_line;
  SlRestart restart;
  guint backoff_min, backoff_max, watchdog, start_timeout;
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
 * @parameters: (nullable) (element-type utf8 utf8): values that go before the defaults
 *
 * Returns: (transfer full): NULL with @error set (SL_ERROR_OPEN, SL_ERROR_FORMAT, SL_ERROR_LIMIT, SL_ERROR_ARGUMENT); messages
 *   begin with FILE:LINE: [group] key, as far as these exist
 */
SlDescription *sl_description_load (const char *path, GHashTable *parameters, GError **error);
/** sl_description_new_from_string: the same of @length bytes (-1: up to the NUL) that stand for a file called @path, without drop-ins;
 *  includes and relative paths are relative to its folder. */
SlDescription *sl_description_new_from_string (const char *text, gssize length, const char *path, GHashTable *parameters, GError **error);
/** sl_description_declared: (transfer full) (element-type utf8): the names of the parameters of the file at @path, as a set; NULL with
 *  @error set when it cannot be read. */
GHashTable *sl_description_declared (const char *path, GError **error);
void sl_description_free (SlDescription *description);
/** sl_description_find: (transfer none) (nullable): the parameter @name. */
const SlParameter *sl_description_find (const SlDescription *description, const char *name);
/** sl_http_settings_copy: @to, which holds nothing, becomes @from. */
void sl_http_settings_copy (SlHttpSettings *to, const SlHttpSettings *from);
void sl_http_settings_clear (SlHttpSettings *settings);
/** sl_restart_name: "no", "on-failure", "always". */
const char *sl_restart_name (SlRestart restart);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDescription, sl_description_free)

G_END_DECLS

#endif
