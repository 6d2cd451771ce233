/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * --allow-download: models of the zoo that a command line names are fetched before the command
 * begins, by `sightline get` as a process of its own: few commands have the library for that.
 */
#pragma once

#include <glib.h>

/** The option's name, without the dashes. */
#define SL_ZOO_ALLOW "allow-download"

/** sl_zoo_allow: fetches each zoo:NAME of @argv that is not here. FALSE where one failed, which
 * stderr says. */
gboolean sl_zoo_allow (const char *command, int argc, char **argv);
