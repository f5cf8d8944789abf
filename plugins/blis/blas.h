/* SPDX-License-Identifier: MIT
 *
 * blas.h: what ../blas/products.c needs to know of BLIS.
 */
#pragma once

#define BLAS_PLUGIN "blis"
#define BLAS_NAME "BLIS"
#define BLAS_LIBRARY "libblis.so.4"
#define BLAS_PACKAGE "libblis4"
#define BLAS_PRIORITY "10"
