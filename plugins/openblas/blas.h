/* SPDX-License-Identifier: MIT
 *
 * blas.h: what ../blas/products.c needs to know of OpenBLAS.
 */
#pragma once

#define BLAS_PLUGIN "openblas"
#define BLAS_NAME "OpenBLAS"
#define BLAS_LIBRARY "libopenblas.so.0"
#define BLAS_PACKAGE "libopenblas0"
#define BLAS_PRIORITY "20"
