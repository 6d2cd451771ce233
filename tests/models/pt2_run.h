/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Archives of torch.export: written, loaded and run. */
#ifndef SL_TESTS_MODELS_PT2_RUN_H
#define SL_TESTS_MODELS_PT2_RUN_H

#include "core/runtime/session.h"
#include "sightline/error.h"
#include "models/model.h"
#include "tests/support/pt2_writer.h"

/** load_pt2: (nullable): the model that @writer has, which it frees. @shape: (nullable): of the
 * inputs. */
SlModel *load_pt2 (SlPt2Writer *writer, const char *shape, GError **error);
/** load_good_pt2: the same of a model that has to load. */
SlModel *load_good_pt2 (SlPt2Writer *writer, const char *shape);
/** refuse_pt2: the same of one that must not, with a message that has @text and the file's name. */
void refuse_pt2 (SlPt2Writer *writer, const char *shape, SlError code, const char *text);
/** run_pt2: a frame of @session: the first @n elements of output @index must be @expected. @x: of
 * the first input. */
void run_pt2 (SlSession *session, const SlModel *model, const gfloat *x, guint index,
              const gfloat *expected, guint n);
/** expect_pt2: loads @writer's model and runs a frame of it. */
void expect_pt2 (SlPt2Writer *writer, const gfloat *x, const gfloat *expected, guint n);

#endif
