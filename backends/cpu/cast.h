/* SPDX-License-Identifier: MIT
 *
 * cast.h: conversion of elements from one dtype to another.
 */
#pragma once

#include "loop.h"

/**
 * cpu_cast:
 *
 * Returns: the run that converts operand 1, of dtype @from, to operand 0, of dtype @to. A number
 *   that does not fit becomes what PyTorch makes of it on x86.
 */
CpuRun cpu_cast (XpDType from, XpDType to);
