/* SPDX-License-Identifier: MIT
 *
 * tensor.h: tensors: an element type, a shape, strides, memory shared between views, and the key
 * set that decides where calls go.
 */
#ifndef XP_TENSOR_H
#define XP_TENSOR_H

#include <crosspoint/dlpack.h>
#include <crosspoint/value.h>

G_BEGIN_DECLS

/* Most dimensions a tensor may have. */
#define XP_MAX_DIMENSIONS 64

typedef enum
{
  XP_TENSOR_REQUIRES_GRAD = 1 << 0,
  /* Strides are those of a dense row-major block. */
  XP_TENSOR_IS_CONTIGUOUS = 1 << 1,
  /* A Scalar that was put into a tensor: it does not raise the dtype of a result within its
   * category (PyTorch's "wrapped number"). */
  XP_TENSOR_IS_SCALAR = 1 << 2,
  /* Made in inference mode. */
  XP_TENSOR_IS_INFERENCE = 1 << 3
} XpTensorFlags;

/**
 * XpTensor:
 * @dl: data, shape and strides, as DLPack has them; strides count elements. For a layout other than
 *   strided, data and strides are %NULL. For a device without a DLPack number, the type is
 *   kDLExtDev and the index that of the backend.
 * @keys: the keys it adds to a call
 * @flags: %XpTensorFlags
 * @dtype: an %XpDType
 * @layout: an %XpLayout
 * @reserved: zero
 * @numel: the number of elements its shape describes
 *
 * The public head of a tensor, which kernels read directly. Frozen within a major version; what
 * follows it is private. Only the functions below write it.
 */
struct XpTensor
{
  DLTensor dl;
  XpKeySet keys;
  uint32_t flags;
  uint8_t dtype;
  uint8_t layout;
  uint16_t reserved;
  int64_t numel;
};

/**
 * xp_tensor_keys:
 *
 * Returns: the keys that @tensor adds to a call. Read word by word: as a vector they would go
 * through the stack, since a call looks at each word right after.
 */
static inline XpKeySet
xp_tensor_keys (const XpTensor *tensor)
{
  return (XpKeySet){ __atomic_load_n (&tensor->keys.functionality, __ATOMIC_RELAXED),
                     __atomic_load_n (&tensor->keys.backend, __ATOMIC_RELAXED) };
}

static inline int
xp_tensor_n_dims (const XpTensor *tensor)
{
  return tensor->dl.ndim;
}

static inline int64_t
xp_tensor_size (const XpTensor *tensor, int dimension)
{
  return tensor->dl.shape[dimension];
}

static inline XpInts
xp_tensor_shape (const XpTensor *tensor)
{
  return (XpInts){ tensor->dl.shape, (size_t) tensor->dl.ndim };
}

static inline XpInts
xp_tensor_strides (const XpTensor *tensor)
{
  return (XpInts){ tensor->dl.strides, (size_t) tensor->dl.ndim };
}

static inline XpDType
xp_tensor_dtype (const XpTensor *tensor)
{
  return (XpDType) tensor->dtype;
}

/**
 * xp_tensor_data:
 *
 * Returns: (transfer none) (nullable): the first element; %NULL for a tensor without memory of the
 *   strided kind, and possibly for one without elements
 */
static inline void *
xp_tensor_data (const XpTensor *tensor)
{
  return tensor->dl.data == NULL ? NULL : (char *) tensor->dl.data + tensor->dl.byte_offset;
}

static inline gboolean
xp_tensor_is_contiguous (const XpTensor *tensor)
{
  return (tensor->flags & XP_TENSOR_IS_CONTIGUOUS) != 0;
}

/**
 * xp_tensor_device:
 *
 * Returns: the device its memory is on, with an index of at least 0, save for CPU and Meta (-1)
 */
XP_PUBLIC XpDevice xp_tensor_device (const XpTensor *tensor);

/**
 * xp_tensor_new:
 * @dtype: element type
 * @shape: size of each dimension; all at least 0
 * @device: where its memory is
 * @error: return location for an error
 *
 * A strided, contiguous tensor whose elements are not set. Its keys are those of reference 7.4: the
 * backend's dense key, autograd key and autocast key, and ADInplaceOrView; in inference mode
 * without autograd and ADInplaceOrView.
 *
 * Errors: %XP_ERROR_SHAPE for a negative size, %XP_ERROR_LIMIT for more than %XP_MAX_DIMENSIONS
 * dimensions or a size in bytes beyond 2^63 - 1, %XP_ERROR_NO_MEMORY, %XP_ERROR_INVALID_ARGUMENT
 * for a device that nobody gives memory for.
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_new (XpDType dtype, XpInts shape, XpDevice device, GError **error);

/**
 * xp_tensor_new_strided:
 * @strides: elements from one to the next in each dimension; at least 0, as many as @shape has
 *
 * As xp_tensor_new(), with memory for the furthest element that the strides reach.
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_new_strided (XpDType dtype, XpInts shape, XpInts strides,
                                           XpDevice device, GError **error);

/**
 * xp_tensor_new_copy_of:
 * @data: elements in row-major order, in host memory
 *
 * A contiguous tensor in host memory that holds a copy of @data.
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_new_copy_of (XpDType dtype, XpInts shape, const void *data,
                                           GError **error);

/**
 * xp_tensor_new_scalar:
 * @scalar: a Scalar
 * @dtype: element type, or -1 for the Scalar's own
 * @device: a device
 *
 * A zero-dimensional tensor that holds @scalar and is flagged %XP_TENSOR_IS_SCALAR. On a device
 * without memory it has no value.
 *
 * Errors: those of xp_tensor_new() and of the device's from_host.
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_new_scalar (XpValue scalar, int dtype, XpDevice device,
                                          GError **error);

/**
 * xp_tensor_new_view:
 * @base: a strided tensor
 * @shape: its shape
 * @strides: its strides in elements; negative ones are refused, as PyTorch refuses them
 * @offset: elements from the start of the storage to its first element
 *
 * Another look at the memory of @base, which both keep alive. Key set, dtype and device are those
 * of
 * @base.
 *
 * Errors: %XP_ERROR_SHAPE where it would reach beyond the storage, and those of xp_tensor_new().
 *
 * Returns: (transfer full): the view
 */
XP_PUBLIC XpTensor *xp_tensor_new_view (XpTensor *base, XpInts shape, XpInts strides,
                                        int64_t offset, GError **error);

/**
 * xp_tensor_storage_offset:
 *
 * Returns: elements from the start of the storage to the first element
 */
XP_PUBLIC int64_t xp_tensor_storage_offset (const XpTensor *tensor);

/**
 * xp_tensor_shares_storage:
 *
 * Returns: whether both look at the same storage
 */
XP_PUBLIC gboolean xp_tensor_shares_storage (const XpTensor *a, const XpTensor *b);

/**
 * xp_tensor_resize:
 * @tensor: a tensor that the caller may write
 * @shape: its new shape
 *
 * What an `out` argument goes through: does nothing when the shape is already right; else makes it
 * contiguous of that shape, in larger memory of its own where the storage is too small.
 * Of a tensor of another layout only the shape changes; its plugin changes the data to fit.
 *
 * Returns: %TRUE on success; the errors are those of xp_tensor_new()
 */
XP_PUBLIC gboolean xp_tensor_resize (XpTensor *tensor, XpInts shape, GError **error);

/**
 * xp_tensor_resize_strided:
 * @strides: the strides it gets where its shape changes; at least 0, as many as @shape has
 *
 * As xp_tensor_resize(), for results that are not contiguous.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_tensor_resize_strided (XpTensor *tensor, XpInts shape, XpInts strides,
                                             GError **error);

XP_PUBLIC XpTensor *xp_tensor_ref (XpTensor *tensor);
XP_PUBLIC void xp_tensor_unref (XpTensor *tensor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpTensor, xp_tensor_unref)

/**
 * xp_tensor_set_requires_grad:
 *
 * Asks for gradients with respect to @tensor. The key set does not change (reference 7.4).
 *
 * Errors: %XP_ERROR_DTYPE for a dtype that is neither floating point nor complex.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_tensor_set_requires_grad (XpTensor *tensor, gboolean requires_grad,
                                                GError **error);

/**
 * xp_tensor_version:
 *
 * Returns: how often the storage has been written through xp_tensor_written()
 */
XP_PUBLIC uint64_t xp_tensor_version (const XpTensor *tensor);

/**
 * xp_tensor_written:
 *
 * Every kernel that writes to an argument says so here, once per call.
 */
XP_PUBLIC void xp_tensor_written (XpTensor *tensor);

/**
 * xp_tensor_get_element:
 * @tensor: a strided tensor in host memory
 * @index: row-major number of the element
 *
 * Returns: (transfer full): the element as a Scalar
 */
XP_PUBLIC XpValue xp_tensor_get_element (const XpTensor *tensor, int64_t index);

/**
 * xp_tensor_set_element:
 * @tensor: a strided tensor in host memory
 * @index: row-major number of the element
 * @scalar: a Scalar, converted to the dtype
 */
XP_PUBLIC void xp_tensor_set_element (XpTensor *tensor, int64_t index, XpValue scalar);

/**
 * xp_tensor_to_string:
 *
 * Prints as PyTorch does: four digits after the point, scientific where the range asks for it, the
 * middle left out of more than 1,000 elements, the dtype where it is not the usual one.
 *
 * Returns: (transfer full): the text, without a final newline
 */
XP_PUBLIC char *xp_tensor_to_string (const XpTensor *tensor);

/**
 * xp_tensor_elements_to_string:
 * @tensor: a strided tensor
 * @column: the column in which the text will begin; its other lines are indented to fit
 *
 * The elements alone, as xp_tensor_to_string() has them, for a layout that prints its parts.
 *
 * Returns: (transfer full) (nullable): the text; %NULL where the elements cannot be read
 */
XP_PUBLIC char *xp_tensor_elements_to_string (const XpTensor *tensor, int column);

/* Layouts: a tensor whose elements are not a strided block is data of the plugin that knows it. */

typedef struct
{
  size_t size;                   /* sizeof (XpLayoutClass) */
  XpLayout layout;               /* its number */
  XpFunctionality functionality; /* the per-backend functionality its tensors carry, as Sparse */
  void (*free_data) (void *data);
  char *(*to_string) (const XpTensor *tensor); /* may be NULL */
} XpLayoutClass;

/**
 * xp_tensor_new_with_layout:
 * @klass: the class; it lies in the plugin, which stays mapped while the tensor lives
 * @data: (transfer full): data of the plugin, freed by @klass; also where this function fails
 * @dtype: element type
 * @shape: the shape it describes
 * @device: the device its parts are on
 *
 * Errors: as xp_tensor_new().
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_new_with_layout (const XpLayoutClass *klass, void *data,
                                               XpDType dtype, XpInts shape, XpDevice device,
                                               GError **error);

/**
 * xp_tensor_layout_data:
 *
 * Returns: (transfer none) (nullable): what xp_tensor_new_with_layout() was given, if it was given
 *   @klass; else %NULL. Equal means the same pointer: another plugin's data is not handed out.
 */
XP_PUBLIC void *xp_tensor_layout_data (const XpTensor *tensor, const XpLayoutClass *klass);

/* Memory: what a plugin tells about its device. Host memory is the core's own, unless a program or
 * a plugin gives it. */

/* What host memory is aligned to, in bytes. */
#define XP_HOST_ALIGNMENT 64

typedef struct
{
  size_t size; /* sizeof (XpMemoryClass) */
  /* Allocates @n_bytes on device @index; NULL where there is none. If NULL itself, tensors of this
   * device have no memory, as those of Meta. */
  void *(*allocate) (int index, size_t n_bytes);
  void (*deallocate) (int index, void *memory, size_t n_bytes);
  /* Copies between the device and the host, and waits for the copy. Not asked of the host. */
  gboolean (*to_host) (int index, void *host, const void *memory, size_t n_bytes, GError **error);
  gboolean (*from_host) (int index, void *memory, const void *host, size_t n_bytes, GError **error);
} XpMemoryClass;

/**
 * xp_backend_set_memory:
 * @backend: a backend
 * @klass: (nullable): how to get memory of it, which lies in the calling plugin, or stays for the
 *   life of the process; %NULL takes it back
 *
 * From now on tensors of @backend are made in this memory; each gives it back to whom it came from,
 * on any thread, and keeps that plugin mapped. For %XP_BACKEND_CPU it is the allocator of the
 * process: its `allocate` is needed and gives memory that the host reads and writes, aligned to
 * %XP_HOST_ALIGNMENT. With none, or after %NULL, CPU has the core's own.
 */
XP_PUBLIC void xp_backend_set_memory (XpBackend backend, const XpMemoryClass *klass);

/* .npy, the array files of NumPy. */

/**
 * xp_tensor_load_npy:
 * @path: a file in NPY format 1.0 to 3.0
 * @error: return location for an error
 *
 * Reads an array of any of our dtypes that NumPy has, C or Fortran order, either byte order; the
 * tensor is contiguous, in host memory, in this machine's byte order. Nothing in the file is
 * trusted: no size is used before it is checked against the file's length.
 *
 * Errors: %XP_ERROR_FILE_IO; %XP_ERROR_FILE_FORMAT for a file that is cut short or has something
 * after the array, a wrong magic or version, a header that does not parse, a shape whose product
 * overflows, and for a dtype we lack (objects, strings, records …).
 *
 * Returns: (transfer full): the tensor
 */
XP_PUBLIC XpTensor *xp_tensor_load_npy (const char *path, GError **error);

/**
 * xp_tensor_save_npy:
 * @tensor: a strided tensor in host memory
 * @path: a file to write or replace
 *
 * Writes NPY format 1.0, C order, little-endian, byte for byte what numpy.save() writes. The file
 * is replaced only when all of it is written.
 *
 * Errors: %XP_ERROR_FILE_IO; %XP_ERROR_INVALID_ARGUMENT for a tensor of another layout or without
 * host memory, %XP_ERROR_DTYPE for bfloat16, which NumPy lacks.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_tensor_save_npy (const XpTensor *tensor, const char *path, GError **error);

G_END_DECLS

#endif
