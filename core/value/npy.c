/* SPDX-License-Identifier: MIT
 *
 * npy.c: tensors from and to .npy files. What a file says is checked against its length before any
 * memory is asked for.
 */
#include "value/npy_header.h"

#include <crosspoint/tensor.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
  MAGIC = 6,
  BLOCK = 1 << 20,              /* bytes that are brought into another order at once */
  LONGEST_HEADER = 65535,       /* only records need more */
  LONGEST_TRANSFER = 0x7ffff000 /* what one read() or write() moves at most */
};

typedef struct
{
  int fd;
  const char *name; /* for errors */
  int64_t length;
} File;

static const char *
kind_of_file (mode_t mode)
{
  switch (mode & S_IFMT)
    {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
    }
}

static gboolean
set_not_regular (const char *name, mode_t mode, GError **error)
{
  xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s: expected a regular file, found %s", name,
                kind_of_file (mode));
  return FALSE;
}

static gboolean
open_file (const char *path, File *file, GError **error)
{
  struct stat status;
  /* Without O_NONBLOCK, opening a pipe waits for a writer. */
  file->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file->fd < 0 || fstat (file->fd, &status) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                    "%s: cannot be opened: %s: check the path and its permissions", file->name,
                    g_strerror (errno));
      return FALSE;
    }
  if (!S_ISREG (status.st_mode))
    return set_not_regular (file->name, status.st_mode, error);
  file->length = status.st_size;
  return TRUE;
}

static gboolean
read_at (const File *file, void *buffer, int64_t n, int64_t offset, GError **error)
{
  char *at = buffer;
  while (n > 0)
    {
      ssize_t got = pread (file->fd, at, (size_t) MIN (n, LONGEST_TRANSFER), offset);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        {
          xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s: cannot be read: %s", file->name,
                        g_strerror (errno));
          return FALSE;
        }
      if (got == 0)
        {
          xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                        "%s: cut short while it was read: expected %" G_GINT64_FORMAT
                        " bytes, found %" G_GINT64_FORMAT,
                        file->name, file->length, offset);
          return FALSE;
        }
      at += got;
      offset += got;
      n -= got;
    }
  return TRUE;
}

/* Reads magic and version, and the length of the header, which starts at @start. */
static gboolean
read_prefix (const File *file, int64_t *start, int64_t *length, GError **error)
{
  uint8_t prefix[12] = { 0 };
  int64_t found = MIN (file->length, (int64_t) sizeof prefix);
  if (!read_at (file, prefix, found, 0, error))
    return FALSE;
  if (found < MAGIC || memcmp (prefix, "\x93NUMPY", MAGIC) != 0)
    {
      gboolean is_zip = found > 2 && memcmp (prefix, "PK", 2) == 0;
      g_autofree char *text = xp_npy_quote ((const char *) prefix, (size_t) MIN (found, MAGIC));
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: not an .npy file: expected it to start with '\\x93NUMPY', found '%s'%s",
                    file->name, text,
                    is_zip ? ": this is an archive, as .npz is; extract the arrays first" : "");
      return FALSE;
    }
  *start = prefix[MAGIC] == 1 ? 10 : 12;
  if (found >= 8 && (prefix[MAGIC] < 1 || prefix[MAGIC] > 3 || prefix[MAGIC + 1] != 0))
    {
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: version %d.%d of the .npy format; expected 1.0, 2.0 or 3.0", file->name,
                    prefix[MAGIC], prefix[MAGIC + 1]);
      return FALSE;
    }
  *length = prefix[8] | prefix[9] << 8;
  if (*start == 12)
    *length |= (int64_t) prefix[10] << 16 | (int64_t) prefix[11] << 24;
  if (file->length < *start || *length > file->length - *start)
    {
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: cut short in the header: expected at least %" G_GINT64_FORMAT
                    " bytes, found %" G_GINT64_FORMAT,
                    file->name, *start + (file->length < *start ? 0 : *length), file->length);
      return FALSE;
    }
  return TRUE;
}

/* Reads the header and holds it against the length of the file; the elements start at @start. */
static gboolean
read_header (const File *file, XpNpyHeader *header, int64_t *start, GError **error)
{
  int64_t length;
  if (!read_prefix (file, start, &length, error))
    return FALSE;
  if (length > LONGEST_HEADER)
    {
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: the header has %" G_GINT64_FORMAT
                    " bytes; expected at most %d, which all but records need",
                    file->name, length, LONGEST_HEADER);
      return FALSE;
    }
  g_autofree char *text = g_malloc ((size_t) length + 1);
  if (!read_at (file, text, length, *start, error)
      || !xp_npy_parse_header (text, (size_t) length, file->name, header, error))
    return FALSE;
  *start += length;
  int64_t found = file->length - *start;
  if (found != header->n_bytes)
    {
      g_autofree char *shape = xp_shape_to_string (xp_shape_ints (&header->shape));
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: %s: expected %" G_GINT64_FORMAT
                    " bytes for a %s array of shape %s, found %" G_GINT64_FORMAT,
                    file->name,
                    found < header->n_bytes ? "cut short" : "there is more after the array",
                    header->n_bytes, xp_dtype_name (header->dtype), shape, found);
      return FALSE;
    }
  return TRUE;
}

/* Copies @n elements of @size bytes between places that are so many bytes apart. */
static void
copy_run (char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, size_t size)
{
  switch (size)
    {
#define COPY(bytes)                                                                                \
  case bytes:                                                                                      \
    for (; n > 0; n--, to += to_step, from += from_step)                                           \
      memcpy (to, from, bytes);                                                                    \
    break;
      COPY (1)
      COPY (2)
      COPY (4)
      COPY (8)
      COPY (16)
#undef COPY
    default:
      break;
    }
}

static void
swap_bytes (void *elements, int64_t numel, XpDType dtype)
{
  gboolean is_complex = xp_dtype_category (dtype) == XP_CATEGORY_COMPLEX;
  int64_t n = is_complex ? 2 * numel : numel;
  char *at = elements;
  switch (xp_dtype_size (dtype) / (is_complex ? 2 : 1))
    {
#define SWAP(type, function)                                                                       \
  case sizeof (type):                                                                              \
    for (; n > 0; n--, at += sizeof (type))                                                        \
      {                                                                                            \
        type number;                                                                               \
        memcpy (&number, at, sizeof number);                                                       \
        number = function (number);                                                                \
        memcpy (at, &number, sizeof number);                                                       \
      }                                                                                            \
    break;
      SWAP (uint16_t, __builtin_bswap16)
      SWAP (uint32_t, __builtin_bswap32)
      SWAP (uint64_t, __builtin_bswap64)
#undef SWAP
    default:
      break;
    }
}

/* Where a walk through the elements of an array is, in an order of its own. */
typedef struct
{
  int n_dims;
  int64_t sizes[XP_MAX_DIMENSIONS]; /* the innermost first */
  int64_t steps[XP_MAX_DIMENSIONS]; /* bytes */
  int64_t index[XP_MAX_DIMENSIONS];
  char *at;
} Walk;

static void
walk_init (Walk *walk, const XpTensor *tensor, gboolean fortran_order)
{
  int n = tensor->dl.ndim;
  int64_t size = (int64_t) xp_dtype_size (xp_tensor_dtype (tensor));
  *walk = (Walk){ .n_dims = MAX (n, 1), .sizes = { 1 }, .at = xp_tensor_data (tensor) };
  for (int i = 0; i < n; i++)
    {
      int d = fortran_order ? i : n - 1 - i;
      walk->sizes[i] = tensor->dl.shape[d];
      /* The stride of a dimension of size 1 may be anything. */
      if (tensor->dl.shape[d] > 1)
        walk->steps[i] = tensor->dl.strides[d] * size;
    }
}

/* Moves on by @n elements, at most to the end of the innermost dimension. */
static void
walk_advance (Walk *walk, int64_t n)
{
  walk->index[0] += n;
  walk->at += n * walk->steps[0];
  for (int i = 0; i + 1 < walk->n_dims && walk->index[i] == walk->sizes[i]; i++)
    {
      walk->at += walk->steps[i + 1] - walk->sizes[i] * walk->steps[i];
      walk->index[i] = 0;
      walk->index[i + 1]++;
    }
}

/* Copies @n elements between @block, where they are in the order of the walk, and the array. */
static void
walk_copy (Walk *walk, char *block, int64_t n, size_t size, gboolean to_array)
{
  while (n > 0)
    {
      int64_t run = MIN (n, walk->sizes[0] - walk->index[0]);
      if (to_array)
        copy_run (walk->at, walk->steps[0], block, (int64_t) size, run, size);
      else
        copy_run (block, (int64_t) size, walk->at, walk->steps[0], run, size);
      walk_advance (walk, run);
      block += run * (int64_t) size;
      n -= run;
    }
}

static gboolean
read_columns (const File *file, int64_t start, XpTensor *tensor, GError **error)
{
  Walk walk;
  size_t size = xp_dtype_size (xp_tensor_dtype (tensor));
  g_autofree char *block = g_malloc (BLOCK);
  walk_init (&walk, tensor, TRUE);
  for (int64_t left = tensor->numel; left > 0;)
    {
      int64_t n = MIN (left, BLOCK / (int64_t) size);
      if (!read_at (file, block, n * (int64_t) size, start, error))
        return FALSE;
      walk_copy (&walk, block, n, size, TRUE);
      start += n * (int64_t) size;
      left -= n;
    }
  return TRUE;
}

static XpTensor *
load (const File *file, GError **error)
{
  XpNpyHeader header;
  int64_t start;
  if (!read_header (file, &header, &start, error))
    return NULL;
  g_autoptr (XpTensor) tensor = xp_tensor_new (header.dtype, xp_shape_ints (&header.shape), XP_CPU,
                                               error);
  if (tensor == NULL)
    {
      g_prefix_error (error, "%s: ", file->name);
      return NULL;
    }
  int long_dimensions = 0;
  for (int i = 0; i < header.shape.n_dims; i++)
    long_dimensions += header.shape.sizes[i] > 1;
  char *data = xp_tensor_data (tensor);
  if (header.fortran_order && long_dimensions > 1 && header.numel > 0
          ? !read_columns (file, start, tensor, error)
          : !read_at (file, data, header.n_bytes, start, error))
    return NULL;
  if (header.swapped)
    swap_bytes (data, header.numel, header.dtype);
  if (header.dtype == XP_BOOL)
    for (int64_t i = 0; i < header.numel; i++)
      data[i] = data[i] != 0;
  return g_steal_pointer (&tensor);
}

XpTensor *
xp_tensor_load_npy (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autofree char *name = g_filename_display_name (path);
  File file = { .name = name };
  XpTensor *tensor = open_file (path, &file, error) ? load (&file, error) : NULL;
  if (file.fd >= 0)
    close (file.fd);
  return tensor;
}

static gboolean
write_all (int fd, const void *bytes, int64_t n)
{
  const char *at = bytes;
  while (n > 0)
    {
      ssize_t put = write (fd, at, (size_t) MIN (n, LONGEST_TRANSFER));
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return FALSE;
      at += put;
      n -= put;
    }
  return TRUE;
}

static gboolean
write_elements (int fd, const XpTensor *tensor)
{
  XpDType dtype = xp_tensor_dtype (tensor);
  size_t size = xp_dtype_size (dtype);
  if (xp_tensor_is_contiguous (tensor) && G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return write_all (fd, xp_tensor_data (tensor), tensor->numel * (int64_t) size);
  Walk walk;
  g_autofree char *block = g_malloc (BLOCK);
  walk_init (&walk, tensor, FALSE);
  for (int64_t left = tensor->numel; left > 0;)
    {
      int64_t n = MIN (left, BLOCK / (int64_t) size);
      walk_copy (&walk, block, n, size, FALSE);
      if (G_BYTE_ORDER != G_LITTLE_ENDIAN)
        swap_bytes (block, n, dtype);
      if (!write_all (fd, block, n * (int64_t) size))
        return FALSE;
      left -= n;
    }
  return TRUE;
}

static gboolean
check_savable (const XpTensor *tensor, const char *name, GError **error)
{
  if (tensor->layout != XP_STRIDED || tensor->dl.device.device_type != kDLCPU)
    {
      g_autofree char *device = xp_device_to_string (xp_tensor_device (tensor));
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "%s: expected a strided tensor in host memory, found a %s one on %s: make it "
                    "dense and copy it to the host first",
                    name, xp_layout_name ((XpLayout) tensor->layout), device);
      return FALSE;
    }
  if (xp_tensor_dtype (tensor) == XP_BFLOAT16)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL,
                    "%s: NumPy has no bfloat16: convert the tensor to float32 first", name);
      return FALSE;
    }
  return TRUE;
}

/* The path of the file to replace, with symbolic links followed, and the permissions of the new
 * one; @replaces says whether there is one to replace. */
static char *
find_target (const char *path, const char *name, mode_t *mode, gboolean *replaces, GError **error)
{
  struct stat status;
  *mode = 0666;
  *replaces = stat (path, &status) == 0;
  if (!*replaces)
    return g_strdup (path);
  if (!S_ISREG (status.st_mode))
    {
      set_not_regular (name, status.st_mode, error);
      return NULL;
    }
  *mode = status.st_mode & 0777;
  char *resolved = realpath (path, NULL);
  char *target = g_strdup (resolved != NULL ? resolved : path);
  free (resolved);
  return target;
}

gboolean
xp_tensor_save_npy (const XpTensor *tensor, const char *path, GError **error)
{
  g_return_val_if_fail (tensor != NULL && path != NULL, FALSE);
  mode_t mode;
  gboolean replaces;
  g_autofree char *name = g_filename_display_name (path);
  if (!check_savable (tensor, name, error))
    return FALSE;
  g_autofree char *target = find_target (path, name, &mode, &replaces, error);
  if (target == NULL)
    return FALSE;
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *temporary = g_build_filename (folder, ".crosspoint-XXXXXX", NULL);
  GString *header = xp_npy_make_header (xp_tensor_dtype (tensor), xp_tensor_shape (tensor));
  int fd = g_mkstemp_full (temporary, O_WRONLY | O_CLOEXEC, (int) mode);
  gboolean written = fd >= 0 && write_all (fd, header->str, (int64_t) header->len)
                     && write_elements (fd, tensor) && (!replaces || fchmod (fd, mode) == 0);
  int code = errno;
  /* Some file systems tell only here that there was no room. */
  if (fd >= 0 && close (fd) != 0 && written)
    {
      written = FALSE;
      code = errno;
    }
  if (written && g_rename (temporary, target) != 0)
    {
      written = FALSE;
      code = errno;
    }
  if (!written)
    {
      if (fd >= 0)
        g_unlink (temporary);
      xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                    "%s: cannot be written: %s: check that the folder exists, has room, and may be "
                    "written to",
                    name, g_strerror (code));
    }
  g_string_free (header, TRUE);
  return written;
}
