/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Perspective maps between four points, by Gauss's elimination: apart from the code under test. */
#pragma once

/** perspective_solve: the map @m of the four points @from to @to. With w = m[6] x + m[7] y + 1 they
 * are x' = (m[0] x + m[1] y + m[2]) / w and y' = (m[3] x + m[4] y + m[5]) / w. */
void perspective_solve (const double from[4][2], const double to[4][2], double m[8]);
/** perspective_apply: maps the point (@x, @y). */
void perspective_apply (const double m[8], double x, double y, double *to_x, double *to_y);
