/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Whether an element would refuse its properties when it starts, for `sightline check`, which
 * starts nothing. The element's start uses the same functions, so each rule is in one place. What
 * one process has once, such as a path of a server, two elements may ask for, also of two
 * pipelines.
 */
#pragma once

#include <gst/gst.h>

/** SlSettingsCheck: FALSE with @error set where @element, which must not run, cannot start with its
 * properties. Reads files that they name. Writes none, and connects to nobody. Takes the object
 * lock itself. */
typedef gboolean (*SlSettingsCheck) (GstElement *element, GError **error);

/** sl_element_class_set_check: for the elements of @klass, in its class_init(). */
void sl_element_class_set_check (GstElementClass *klass, SlSettingsCheck check);
/** sl_element_check_settings: calls the function of @element's class; TRUE where it has none.
 * @element may be of another plugin file. */
gboolean sl_element_check_settings (GstElement *element, GError **error);

/** SlSettingsMeet: FALSE with @error set where @element cannot start while @other, of its type,
 * runs in this process. TRUE where one of them cannot start by itself. Likewise. */
typedef gboolean (*SlSettingsMeet) (GstElement *element, GstElement *other, GError **error);

/** sl_element_class_set_meet: for the elements of @klass, in its class_init(). */
void sl_element_class_set_meet (GstElementClass *klass, SlSettingsMeet meet);
/** sl_element_check_meeting: calls the function of @element's class; TRUE where it has none, or
 * @other is of another type. */
gboolean sl_element_check_meeting (GstElement *element, GstElement *other, GError **error);
