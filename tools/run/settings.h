/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline run` and `sightline check` have in common: --set, and the elements that pipelines
 * may name.
 */
#pragma once

#include <glib.h>

/** @parameters: (element-type utf8 utf8): what @set says, once checked; @used: names that a
 * description took. */
typedef struct
{
  GStrv set;
  GHashTable *parameters, *used;
  char *dot, *black_box, *state, *dbus, *stop_timeout;
  gboolean json, stats;
} SlRunOptions;

/** The GOptionEntry of --set. */
#define SL_RUN_OPTION_SET(options)                                         \
  {                                                                        \
    "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &(options).set,              \
      "Set a parameter of the descriptions; may be repeated", "NAME=VALUE" \
  }

/** sl_run_options_check: fills parameters; FALSE, having complained, when a --set is malformed. */
gboolean sl_run_options_check (const char *command, SlRunOptions *options);
/** sl_run_options_parameters_for: (transfer full): those of the parameters that the description
 * @path declares, all of them when it is the @only one, so that a wrong name is its error; where
 * --set has none, what SIGHTLINE_SET_NAME in the environment says. NULL with
 *  @error set when it cannot be read. */
GHashTable *sl_run_options_parameters_for (SlRunOptions *options, const char *path, gboolean only,
                                           GError **error);
/** sl_run_options_all_used: FALSE, having complained, when a --set was for none of the descriptions
 * asked about. */
gboolean sl_run_options_all_used (const char *command, SlRunOptions *options);
void sl_run_options_clear (SlRunOptions *options);
/** sl_run_register_elements: Sightline's elements, after sl_elements_init(). */
void sl_run_register_elements (void);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlRunOptions, sl_run_options_clear)
