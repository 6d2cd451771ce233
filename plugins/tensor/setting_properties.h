/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* A model's settings as properties of elements: slinfer has them, and slpredict forwards them. */
#pragma once

#include "models/settings.h"
#include "plugins/base/properties.h"

/** sl_setting_properties: fills @properties, which has room for SL_MAX_SETTINGS, with the settings
 * that elements have; @offset: of their SlModelSettings in the instance. Returns how many there
 * are. */
guint sl_setting_properties (SlProperty *properties, gsize offset);
/** sl_setting_properties_read: takes into @settings what is not stated there yet and what @element,
 * an slinfer, does not leave at its default. */
void sl_setting_properties_read (GObject *element, SlModelSettings *settings);
/** sl_setting_properties_give: sets the properties of @element, an slinfer, that @settings state.
 * They have passed sl_model_settings_check(). */
void sl_setting_properties_give (const SlModelSettings *settings, GObject *element);
