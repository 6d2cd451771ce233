/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine that a file of `sightline bench field` is of. Nothing that tells whose it is: no name
 * in a network, no serial number, no address.
 */
#pragma once

#include <glib.h>

/** sl_field_emulated: whether the processor is an emulated one, such as qemu-user's: times mean
 * nothing. */
gboolean sl_field_emulated (void);
/** sl_field_append_machine: a member "machine" to @json. @root: (nullable): folder in the place of
 * /sys, for tests; @measured: memory and the peak of a core are measured, too. */
void sl_field_append_machine (GString *json, const char *root, gboolean measured);
