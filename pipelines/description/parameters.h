/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parameters of a description: declared by [parameters] and [parameter NAME], valued by
 * defaults and callers, typed.
 */
#pragma once

#include "pipelines/description/key_text.h"
#include "pipelines/description/parameter.h"

#define SL_PARAMETERS_GROUP "parameters"
#define SL_PARAMETER_PREFIX "parameter "

/** Most levels of parameters inside the defaults of other parameters. */
#define SL_DESCRIPTION_MAX_NESTING 16

typedef struct _SlParameterSet SlParameterSet;

SlParameterSet *sl_parameter_set_new (void);
void sl_parameter_set_free (SlParameterSet *set);
/** sl_parameter_set_default: takes a key of [parameters]. */
gboolean sl_parameter_set_default (SlParameterSet *set, const SlKeyEntry *entry, GError **error);
/** sl_parameter_set_detail: takes a key of [parameter @name]. */
gboolean sl_parameter_set_detail (SlParameterSet *set, const char *name, const SlKeyEntry *entry,
                                  GError **error);
/** sl_parameter_set_resolve: fills every value, from @values (nullable) (utf8 to utf8), else from
 * defaults, in which parameters are substituted; checks types. @path: the description's, for
 * messages. */
gboolean sl_parameter_set_resolve (SlParameterSet *set, GHashTable *values, const char *path,
                                   GError **error);
/** sl_parameter_set_lookup: an SlLookup; @set is its data. */
const char *sl_parameter_set_lookup (const char *name, gpointer set, GError **error);
/** sl_parameter_set_steal: (transfer full): of SlParameter; @set is empty then. */
GArray *sl_parameter_set_steal (SlParameterSet *set);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlParameterSet, sl_parameter_set_free)
