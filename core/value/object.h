/* SPDX-License-Identifier: MIT
 *
 * object.h: the counted objects that values hold.
 */
#pragma once

#include <crosspoint/value.h>

/* The head of every object: its count, and the tag that says what it is. */
struct XpObject
{
  uint32_t references;
  uint32_t tag;
};

struct XpString
{
  XpObject head;
  size_t length;
  char text[];
};

struct XpComplex
{
  XpObject head;
  double real;
  double imaginary;
};

struct XpList
{
  XpObject head;
  uint32_t element_tag;
  size_t length;
  union
  {
    int64_t integers[1];
    double numbers[1];
    bool bools[1];
    XpTensor *tensors[1];
    XpValue values[1];
  } elements;
};

struct XpDict
{
  XpObject head;
  size_t length;
  XpValue entries[][2];
};

struct XpGenerator
{
  XpObject head;
  XpDevice device;
  uint64_t seed;
  uint64_t position;
};

struct XpOpaque
{
  XpObject head;
  void *data;
  GDestroyNotify destroy;
  char type_name[];
};

/* A new object of @size bytes with one reference. */
void *xp_object_new (XpTag tag, size_t size);

void *xp_object_ref (void *object);
void xp_object_unref (void *object);

/* What is freed with the last reference of the objects that hold others. */
void xp_list_clear (XpList *list);
void xp_dict_clear (XpDict *dict);
