/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and names that the writer and the reader of models/replay/black_box.h share. */
#pragma once

#define SL_BLACK_BOX_MAGIC "SLBBOX\r\n"
#define SL_BLACK_BOX_HEADER 32
#define SL_BLACK_BOX_SECTION 24
#define SL_BLACK_BOX_INFO "INFO"
#define SL_BLACK_BOX_INFERENCE "INFR"
/* What stands before the outputs' rows of an inference, and such a row. */
#define SL_BLACK_BOX_FIXED 32
#define SL_BLACK_BOX_ROW 16
