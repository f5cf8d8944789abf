/* SPDX-License-Identifier: MIT
 *
 * crosspoint.h: the whole public interface.
 */
#ifndef CROSSPOINT_H
#define CROSSPOINT_H

#include <crosspoint/boxing.h>
#include <crosspoint/call.h>
#include <crosspoint/direct.h>
#include <crosspoint/dtype.h>
#include <crosspoint/error.h>
#include <crosspoint/guard.h>
#include <crosspoint/half.h>
#include <crosspoint/kernel.h>
#include <crosspoint/key.h>
#include <crosspoint/library.h>
#include <crosspoint/loader.h>
#include <crosspoint/parallel.h>
#include <crosspoint/plugin.h>
#include <crosspoint/preference.h>
#include <crosspoint/scan.h>
#include <crosspoint/schema.h>
#include <crosspoint/schema_file.h>
#include <crosspoint/settings.h>
#include <crosspoint/table.h>
#include <crosspoint/tensor.h>
#include <crosspoint/trace.h>
#include <crosspoint/value.h>

#endif
