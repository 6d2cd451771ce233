/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A node as converters read it: an operator by its name in ONNX, the names of its inputs and
 * outputs, its attributes. A reader fills it of its file; what is of that file alone stays opaque
 * here.
 */
#pragma once

#include <glib.h>

typedef struct _OnnxGraph OnnxGraph;
typedef struct _SlPbMessage SlPbMessage;

/** Text as a file has it: @size bytes without a NUL. */
typedef struct
{
  const char *data;
  gsize size;
} LowerText;

/** An attribute: the members that its file fills. */
typedef struct
{
  const char *name;
  gint64 i;
  gfloat f;
  LowerText text;            /* a string */
  const SlPbMessage *tensor; /* (nullable): a constant of an ONNX file */
  const OnnxGraph *graph;    /* (nullable): an inner graph of an ONNX file */
  const gint64 *ints;
  const gfloat *floats;
  const LowerText *texts; /* of a list of strings */
  guint n_ints, n_floats, n_texts;
} LowerAttribute;

/** @inputs, @outputs: names; "" = omitted. @index: position in its graph. */
typedef struct
{
  const char *op, *domain, *name;
  guint index;
  guint n_inputs, n_outputs, n_attributes;
  const char **inputs, **outputs;
  const LowerAttribute *attributes;
} LowerNode;
