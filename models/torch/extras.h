/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an archive of PyTorch says of its model beside the program: files that its author added, and
 * the names of its classes. */
#pragma once

#include "models/reader.h"
#include "models/torch/archive.h"

/** ts_extras_read: labels.txt, config.txt of Ultralytics and a .modelinfo among the extra files. */
gboolean ts_extras_read (const TsArchive *archive, SlModelMetadata *metadata, GError **error);
/** ts_guess_range: (transfer none) (nullable): mean and std that a model of @class_name,
 * "torchvision.models.resnet.ResNet", was probably trained with, as a sentence. */
const char *ts_guess_range (const char *class_name);
