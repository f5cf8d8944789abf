/* SPDX-License-Identifier: MIT
 *
 * type.h: the types without parameters, and types made of others.
 */
#pragma once

#include "schema/arena.h"

#include <crosspoint/schema.h>

/* How many kinds have no parameters; they come first. */
#define XP_N_PLAIN_TYPES XP_TYPE_OPTIONAL

/* The type that is written @name, or NULL. */
const XpType *xp_type_plain (const char *name, size_t length);

/* As a schema prints it, for kinds without parameters. */
const char *xp_type_plain_name (XpTypeKind kind);

/* A type of @kind made of @elements, which are copied. */
const XpType *xp_type_new (XpArena *arena, XpTypeKind kind, const XpType *const *elements,
                           uint32_t n_elements);
const XpType *xp_type_new_named (XpArena *arena, XpTypeKind kind, const char *name);
const XpType *xp_type_new_list (XpArena *arena, const XpType *element, int64_t fixed_size);

/* @type itself where it is optional already. */
const XpType *xp_type_new_optional (XpArena *arena, const XpType *type);

/* A Union of @elements in canonical order: unions and optionals among them dissolved, each type
 * once; an optional where None and one other type are left, that type where only one is. NULL where
 * there are more than a schema may have. */
const XpType *xp_type_new_union (XpArena *arena, const XpType *const *elements,
                                 uint32_t n_elements);

/* @type as a signature has it: without sizes, and with one kind for all that are passed alike. */
const XpType *xp_type_new_signature (XpArena *arena, const XpType *type);
