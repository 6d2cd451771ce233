/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline serve` of a build without libmosquitto. */
#include "tools/command.h"

static int
serve_run (int argc, char **argv)
{
  return sl_complain ("serve", "this build has no MQTT: install libmosquitto-dev and build again");
}

const SlCommand sl_command_serve = {
  "serve", "run models for cameras on other machines, through an MQTT broker", serve_run
};
