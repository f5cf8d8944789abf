/* SPDX-License-Identifier: MIT
 *
 * type.c: the types without parameters, which are constants that every schema shares, and types
 * made of others.
 */
#include "schema/type.h"

#include "schema/schema.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN(enumerator, name, printed) [XP_TYPE_##enumerator] = { .kind = XP_TYPE_##enumerator },
static const XpType plain_types[] = { XP_PLAIN_TYPE_LIST (PLAIN) };

typedef struct
{
  const char *name;
  uint32_t length;
  const char *printed;
} PlainName;

#define NAME(enumerator, name, printed) { name, sizeof name - 1, printed },
static const PlainName plain_names[] = { XP_PLAIN_TYPE_LIST (NAME) };

/* Where a type stands in a Union: PyTorch's numbering of type kinds. */
static const uint8_t union_order[] = {
  [XP_TYPE_ANY] = 0,
  [XP_TYPE_ANY_ENUM] = 2,
  [XP_TYPE_TENSOR] = 3,
  [XP_TYPE_STORAGE] = 4,
  [XP_TYPE_TUPLE] = 5,
  [XP_TYPE_LIST] = 6,
  [XP_TYPE_DICT] = 7,
  [XP_TYPE_SCALAR] = 8,
  [XP_TYPE_FLOAT] = 9,
  [XP_TYPE_COMPLEX] = 10,
  [XP_TYPE_FUTURE] = 11,
  [XP_TYPE_AWAIT] = 12,
  [XP_TYPE_RREF] = 13,
  [XP_TYPE_INT] = 14,
  [XP_TYPE_DEVICE_INDEX] = 14,
  [XP_TYPE_NONE] = 15,
  [XP_TYPE_NONE_TYPE] = 15,
  [XP_TYPE_STR] = 16,
  [XP_TYPE_DIMNAME] = 16,
  [XP_TYPE_GENERATOR] = 17,
  [XP_TYPE_QUANTIZER] = 18,
  [XP_TYPE_BOOL] = 19,
  [XP_TYPE_OPTIONAL] = 20,
  [XP_TYPE_VARIABLE] = 21,
  [XP_TYPE_DEVICE] = 22,
  [XP_TYPE_STREAM] = 23,
  [XP_TYPE_CLASS] = 25,
  [XP_TYPE_PY_OBJECT] = 26,
  [XP_TYPE_CAPSULE] = 27,
  [XP_TYPE_QSCHEME] = 29,
  [XP_TYPE_SCALAR_TYPE] = 30,
  [XP_TYPE_LAYOUT] = 31,
  [XP_TYPE_MEMORY_FORMAT] = 32,
  [XP_TYPE_ANY_CLASS] = 35,
  [XP_TYPE_SYM_INT] = 36,
  [XP_TYPE_SYM_BOOL] = 38,
  [XP_TYPE_UNION] = 39,
  [XP_TYPE_CONST_QUANTIZER] = 14,
};

const XpType *
xp_type_plain (const char *name, size_t length)
{
  for (unsigned i = 0; i < XP_LENGTH (plain_names); i++)
    if (plain_names[i].length == length && memcmp (plain_names[i].name, name, length) == 0)
      return &plain_types[i];
  return NULL;
}

const char *
xp_type_plain_name (XpTypeKind kind)
{
  return plain_names[kind].printed;
}

const XpType *
xp_type_new (XpArena *arena, XpTypeKind kind, const XpType *const *elements, uint32_t n_elements)
{
  XpType *type = xp_arena_take (arena, sizeof *type);
  *type = (XpType){ .kind = kind,
                    .n_elements = n_elements,
                    .elements = xp_arena_copy (arena, elements,
                                               n_elements * sizeof (const XpType *)) };
  return type;
}

const XpType *
xp_type_new_named (XpArena *arena, XpTypeKind kind, const char *name)
{
  XpType *type = xp_arena_take (arena, sizeof *type);
  *type = (XpType){ .kind = kind, .name = name };
  return type;
}

const XpType *
xp_type_new_list (XpArena *arena, const XpType *element, int64_t fixed_size)
{
  XpType *type = (XpType *) xp_type_new (arena, XP_TYPE_LIST, &element, 1);
  type->fixed_size = fixed_size;
  return type;
}

const XpType *
xp_type_new_optional (XpArena *arena, const XpType *type)
{
  return type->kind == XP_TYPE_OPTIONAL ? type : xp_type_new (arena, XP_TYPE_OPTIONAL, &type, 1);
}

/* One of a Union's types, with the text that orders it among those of its kind. */
typedef struct
{
  const XpType *type;
  char *text;
} Member;

typedef struct
{
  Member items[XP_SCHEMA_LIMIT];
  unsigned n;
  gboolean is_full;
} Members;

static void
add_member (Members *members, const XpType *type)
{
  if (type->kind == XP_TYPE_UNION || type->kind == XP_TYPE_OPTIONAL)
    {
      for (uint32_t i = 0; i < type->n_elements; i++)
        add_member (members, type->elements[i]);
      if (type->kind == XP_TYPE_OPTIONAL)
        add_member (members, &plain_types[XP_TYPE_NONE]);
      return;
    }
  g_autofree char *text = xp_type_to_string (type);
  for (unsigned i = 0; i < members->n; i++)
    if (strcmp (members->items[i].text, text) == 0)
      return;
  if (members->n == XP_LENGTH (members->items))
    members->is_full = TRUE;
  else
    members->items[members->n++] = (Member){ type, g_steal_pointer (&text) };
}

static int
compare_members (const void *a, const void *b)
{
  const Member *left = a, *right = b;
  int order = union_order[left->type->kind] - union_order[right->type->kind];
  return order != 0 ? order : strcmp (left->text, right->text);
}

static gboolean
is_none (const XpType *type)
{
  return type->kind == XP_TYPE_NONE || type->kind == XP_TYPE_NONE_TYPE;
}

const XpType *
xp_type_new_union (XpArena *arena, const XpType *const *elements, uint32_t n_elements)
{
  Members members = { .n = 0 };
  for (uint32_t i = 0; i < n_elements; i++)
    add_member (&members, elements[i]);
  qsort (members.items, members.n, sizeof members.items[0], compare_members);
  const XpType *sorted[XP_SCHEMA_LIMIT];
  for (unsigned i = 0; i < members.n; i++)
    {
      sorted[i] = members.items[i].type;
      g_free (members.items[i].text);
    }
  if (members.is_full)
    return NULL;
  if (members.n == 1)
    return sorted[0];
  if (members.n == 2 && (is_none (sorted[0]) || is_none (sorted[1])))
    return xp_type_new_optional (arena, sorted[is_none (sorted[0]) ? 1 : 0]);
  return xp_type_new (arena, XP_TYPE_UNION, sorted, members.n);
}

/* The kind that stands in a signature for all that typed functions pass in the same way. */
static XpTypeKind
signature_kind (XpTypeKind kind)
{
  switch (kind)
    {
    case XP_TYPE_SYM_INT:
    case XP_TYPE_DEVICE_INDEX:
    case XP_TYPE_CONST_QUANTIZER:
      return XP_TYPE_INT;
    case XP_TYPE_SYM_BOOL:
      return XP_TYPE_BOOL;
    case XP_TYPE_DIMNAME:
      return XP_TYPE_STR;
    case XP_TYPE_NONE_TYPE:
      return XP_TYPE_NONE;
    case XP_TYPE_VARIABLE: /* parses in few namespaces, and is passed as Any is */
      return XP_TYPE_ANY;
    default:
      return kind;
    }
}

const XpType *
xp_type_new_signature (XpArena *arena, const XpType *type)
{
  const XpType *elements[XP_SCHEMA_LIMIT];
  XpTypeKind kind = signature_kind (type->kind);
  if (kind < XP_N_PLAIN_TYPES)
    return &plain_types[kind];
  for (uint32_t i = 0; i < type->n_elements; i++)
    elements[i] = xp_type_new_signature (arena, type->elements[i]);
  if (kind == XP_TYPE_CLASS)
    return type;
  if (kind == XP_TYPE_OPTIONAL)
    return xp_type_new_optional (arena, elements[0]);
  if (kind == XP_TYPE_UNION) /* never more types than it had */
    return xp_type_new_union (arena, elements, type->n_elements);
  return xp_type_new (arena, kind, elements, type->n_elements);
}
