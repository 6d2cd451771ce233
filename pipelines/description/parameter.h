/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlParameter: one parameter of a description, with its type and its value. */
#pragma once

#include <glib.h>

typedef enum
{
  SL_PARAMETER_STRING,
  SL_PARAMETER_INTEGER,
  SL_PARAMETER_NUMBER,
  SL_PARAMETER_BOOLEAN,
  SL_PARAMETER_PATH, /* a relative default is relative to the folder of its description file */
  SL_PARAMETER_CHOICE
} SlParameterType;

/**
 * SlParameter:
 * @value: the text that is substituted
 * @is_default: @value is the default in the file; neither the caller nor the environment gives a
 * value
 * @environment: (nullable): name of an environment variable. Its value is used where it is set and
 * the caller gives no value
 * @description: (nullable)
 * @choices: (nullable): the values of an SL_PARAMETER_CHOICE
 * @minimum, @maximum: range of integers and numbers
 */
typedef struct
{
  char *name, *value, *description, *environment;
  gboolean is_default, from_environment;
  SlParameterType type;
  GStrv choices;
  gdouble minimum, maximum;
} SlParameter;
