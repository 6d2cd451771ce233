/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs of TorchScript archives: written, loaded, run, and compared with what torch made of
 * them. */
#ifndef SL_TESTS_MODELS_TORCHSCRIPT_RUN_H
#define SL_TESTS_MODELS_TORCHSCRIPT_RUN_H

#include "models/model.h"

#define MAX_RESULTS 96
/** Of the tensor x that forward() gets. */
#define PROGRAM_SHAPE "1,2,3,4"

/** ProgramRow: the body of forward(), and what torch 1.13 made of x with it; x is float32[1,2,3,4]
 * of ((7 i) % 11 - 5) / 4. */
typedef struct
{
  const char *name, *body;
  guint n;
  gfloat results[MAX_RESULTS];
} ProgramRow;

/** load_program: (nullable): the model of class Net whose forward() has that signature and body;
 * @more: (nullable): text behind the class, and of torchvision.models.detection.roi_heads. */
SlModel *load_program (const char *signature, const char *body, const char *more, const char *shape,
                       GError **error);
/** add_program_rows: a test for each of @rows. */
void add_program_rows (const char *prefix, const ProgramRow *rows, guint n);

#endif
