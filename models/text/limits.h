/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of texts. */
#pragma once

/** Most bytes of a text, also after its normalisation. */
#define SL_TEXT_MAX (32 << 10)
