# SPDX-License-Identifier: MIT
"""The public C API of libcrosspoint for the parity tests, by ctypes, in PyTorch's terms.

Arguments of a call are what PyTorch's own operators take: tensors, numbers, lists, torch.dtype and
the like. A Session keeps the memory of one call's tensors: tensors that share a storage in PyTorch
share one here too, with the same strides and offset.
"""

import ctypes
import struct

import torch

# XpTag, XpDType, XpLayout, XpMemoryFormat: <crosspoint/value.h>, <crosspoint/dtype.h>.
NONE, BOOL, INT, FLOAT, DTYPE, LAYOUT, MEMORY_FORMAT, DEVICE, TENSOR = range(9)
DTYPES = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4,
    torch.float16: 5, torch.float32: 6, torch.float64: 7, torch.complex64: 9,
    torch.complex128: 10, torch.bool: 11, torch.bfloat16: 15,
}
DTYPE_OF = {number: dtype for dtype, number in DTYPES.items()}
LAYOUTS = {torch.strided: 0, torch.sparse_coo: 1, torch.sparse_csr: 2}
LAYOUT_OF = {number: layout for layout, number in LAYOUTS.items()}
MEMORY_FORMATS = {
    torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2,
    torch.channels_last_3d: 3,
}
BACKENDS = {"cpu": 0, "cuda": 1, "meta": 63}
BACKEND_OF = {number: name for name, number in BACKENDS.items()}


class Ints(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Device(ctypes.Structure):
    _fields_ = [("backend", ctypes.c_int32), ("index", ctypes.c_int32)]


class KeySet(ctypes.Structure):
    _fields_ = [("functionality", ctypes.c_uint64), ("backend", ctypes.c_uint64)]


class Value(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint32), ("length", ctypes.c_uint32), ("bits", ctypes.c_uint64)]


class TensorHead(ctypes.Structure):
    """XpTensor: a DLTensor, then what is ours."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("n_dims", ctypes.c_int32), ("type_code", ctypes.c_uint8), ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
        ("keys", KeySet), ("flags", ctypes.c_uint32), ("dtype", ctypes.c_uint8),
        ("layout", ctypes.c_uint8), ("reserved", ctypes.c_uint16), ("numel", ctypes.c_int64),
    ]


class ErrorRecord(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", ctypes.c_int), ("message", ctypes.c_char_p)]


class SchemaHead(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("overload", ctypes.c_char_p), ("n_arguments", ctypes.c_uint32),
        ("n_returns", ctypes.c_uint32),
    ]


class Number:
    """A number given for a tensor, as `t + 2` does: it does not raise the dtype of a result."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Number({self.value!r})"


class CrosspointError(Exception):
    """An error of a call: its code by name, the class it is known by, and the message."""

    def __init__(self, library, record):
        self.code = record.code
        self.name = library.xp_error_name(record.code).decode()
        self.klass = library.xp_error_class(record.code).decode()
        self.message = record.message.decode(errors="replace")
        super().__init__(f"{self.klass} ({self.name}): {self.message}")


POINTER = ctypes.c_void_p
ERROR = ctypes.POINTER(ctypes.POINTER(ErrorRecord))
PROTOTYPES = {
    "xp_error_class": (ctypes.c_char_p, [ctypes.c_int]),
    "xp_error_is_a": (ctypes.c_int, [ctypes.c_int, ctypes.c_char_p]),
    "xp_error_name": (ctypes.c_char_p, [ctypes.c_int]),
    "xp_key_parse": (ctypes.c_int, [ctypes.c_char_p, POINTER, ERROR]),
    "xp_key_set_to_string": (POINTER, [KeySet]),
    "xp_list_get": (Value, [POINTER, ctypes.c_size_t]),
    "xp_list_new": (POINTER, [POINTER, ctypes.c_size_t]),
    "xp_operator_call": (ctypes.c_int, [POINTER, POINTER, POINTER, ERROR]),
    "xp_operator_get": (POINTER, [ctypes.c_char_p, ERROR]),
    "xp_operator_schema": (POINTER, [POINTER]),
    "xp_plugin_load": (POINTER, [ctypes.c_char_p, ERROR]),
    "xp_schema_match": (ctypes.c_int, [POINTER, POINTER, ctypes.c_size_t, POINTER, POINTER,
                                       ctypes.c_size_t, POINTER, ERROR]),
    "xp_schema_to_string": (POINTER, [POINTER]),
    "xp_table_has_kernel": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_uint32]),
    "xp_tensor_device": (Device, [POINTER]),
    "xp_tensor_new": (POINTER, [ctypes.c_int, Ints, Device, ERROR]),
    "xp_tensor_new_scalar": (POINTER, [Value, ctypes.c_int, Device, ERROR]),
    "xp_tensor_new_view": (POINTER, [POINTER, Ints, Ints, ctypes.c_int64, ERROR]),
    "xp_tensor_ref": (POINTER, [POINTER]),
    "xp_tensor_set_requires_grad": (ctypes.c_int, [POINTER, ctypes.c_int, ERROR]),
    "xp_tensor_shares_storage": (ctypes.c_int, [POINTER, POINTER]),
    "xp_tensor_storage_offset": (ctypes.c_int64, [POINTER]),
    "xp_tensor_unref": (None, [POINTER]),
    "xp_value_clear": (None, [POINTER]),
    "xp_value_complex": (Value, [ctypes.c_double, ctypes.c_double]),
    "xp_value_list": (Value, [POINTER]),
    "xp_value_string": (Value, [ctypes.c_char_p]),
    "xp_values_clear": (None, [POINTER, ctypes.c_size_t]),
}


def ints_of(numbers):
    """An XpInts and the array that it borrows."""
    array = (ctypes.c_int64 * max(len(numbers), 1))(*numbers)
    return Ints(ctypes.addressof(array), len(numbers)), array


class Tensor:
    """A reference to an XpTensor."""

    def __init__(self, library, address):
        self.library = library
        self.address = address
        self.head = TensorHead.from_address(address)

    def __del__(self):
        self.library.xp_tensor_unref(self.address)

    shape = property(lambda self: self.head.shape[: self.head.n_dims])
    strides = property(lambda self: self.head.strides[: self.head.n_dims])
    dtype = property(lambda self: DTYPE_OF[self.head.dtype])
    layout = property(lambda self: LAYOUT_OF[self.head.layout])
    offset = property(lambda self: self.library.xp_tensor_storage_offset(self.address))

    @property
    def device(self):
        device = self.library.xp_tensor_device(self.address)
        return BACKEND_OF.get(device.backend, str(device.backend))

    def shares_storage(self, other):
        return bool(self.library.xp_tensor_shares_storage(self.address, other.address))

    def to_torch(self):
        """The same elements, strides and offset in PyTorch, in memory of its own."""
        shape, strides, dtype, offset = self.shape, self.strides, self.dtype, self.offset
        if self.head.numel == 0:
            return torch.empty(0, dtype=dtype).as_strided(shape, strides, offset)
        size = self.head.type_bits // 8
        extent = offset + 1 + sum((n - 1) * stride for n, stride in zip(shape, strides))
        start = self.head.data + self.head.byte_offset - offset * size
        memory = bytearray(ctypes.string_at(start, extent * size))
        return torch.frombuffer(memory, dtype=dtype).as_strided(shape, strides, offset)


class Library:
    """libcrosspoint with the plugins that were asked for."""

    def __init__(self, path, plugins):
        self.c = ctypes.CDLL(path)
        self.glib = ctypes.CDLL("libglib-2.0.so.0")
        self.glib.g_free.argtypes = [POINTER]
        self.glib.g_error_free.argtypes = [POINTER]
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments
        self.operators = {}
        for plugin in plugins:
            self.checked(self.c.xp_plugin_load, plugin.encode())

    def checked(self, function, *arguments):
        """Calls a function whose last argument is a GError; raises where it gives NULL or FALSE."""
        error = ctypes.POINTER(ErrorRecord)()
        result = function(*arguments, ctypes.byref(error))
        if error:
            raised = CrosspointError(self.c, error.contents)
            self.glib.g_error_free(error)
            raise raised
        return result

    def text(self, address):
        """A text that the callee handed over."""
        text = ctypes.string_at(address).decode()
        self.glib.g_free(address)
        return text

    def operator(self, name):
        """The operator and its schema, looked up once."""
        if name not in self.operators:
            op = self.checked(self.c.xp_operator_get, name.encode())
            self.operators[name] = op, self.c.xp_operator_schema(op)
        return self.operators[name]

    def schema(self, name):
        return self.text(self.c.xp_schema_to_string(self.operator(name)[1]))

    def key_set(self, tensor):
        return self.text(self.c.xp_key_set_to_string(tensor.head.keys))

    def has_kernel(self, name, key):
        """Whether a kernel is registered for exactly that key."""
        number = ctypes.c_uint32()
        self.checked(self.c.xp_key_parse, key.encode(), ctypes.byref(number))
        return bool(self.c.xp_table_has_kernel(name.encode(), number.value))

    def is_a(self, error, klass):
        return bool(self.c.xp_error_is_a(error.code, klass.encode()))

    def own(self, address):
        return Tensor(self.c, address)

    def call(self, name, positional, keywords):
        """Calls an operator with Values; gives what it returns as a list of Tensors and Values."""
        op, schema = self.operator(name)
        head = SchemaHead.from_address(schema)
        arguments = (Value * max(head.n_arguments, 1))()
        results = (Value * max(head.n_returns, 1))()
        given = (Value * max(len(positional), 1))(*positional)
        names = (ctypes.c_char_p * max(len(keywords), 1))(*(key.encode() for key in keywords))
        named = (Value * max(len(keywords), 1))(*keywords.values())
        self.checked(self.c.xp_schema_match, schema, given, len(positional), names, named,
                     len(keywords), arguments)
        try:
            self.checked(self.c.xp_operator_call, op, arguments, results)
        finally:
            self.c.xp_values_clear(arguments, head.n_arguments)
        return [self.own(value.bits) if value.tag == TENSOR else value
                for value in results[: head.n_returns]]


class Session:
    """The tensors of one call. `device` replaces the device of all of them: "meta" for copies that
    have shapes only."""

    def __init__(self, library, device=None):
        self.library = library
        self.device = device
        self.storages = {}
        self.tensors = {}
        self.numbers = []
        self.owned = []

    def __del__(self):
        for value in self.owned:
            self.library.c.xp_value_clear(ctypes.byref(value))

    def storage(self, tensor, device):
        """A one-dimensional tensor over a copy of the storage of a PyTorch tensor."""
        storage = tensor.storage()
        key = storage._cdata
        if key not in self.storages:
            size = storage.nbytes() // tensor.element_size()
            sizes, keep = ints_of([size])
            base = self.library.own(self.library.checked(
                self.library.c.xp_tensor_new, DTYPES[tensor.dtype], sizes,
                Device(BACKENDS[device], -1)))
            del keep
            if device == "cpu" and size > 0:
                ctypes.memmove(base.head.data + base.head.byte_offset, storage.data_ptr(),
                               storage.nbytes())
            self.storages[key] = base, storage
        return self.storages[key][0]

    def tensor(self, tensor):
        """The same tensor here: equal in elements, dtype, shape, strides, offset and sharing."""
        if id(tensor) in self.tensors:
            return self.tensors[id(tensor)][0]
        if tensor.layout != torch.strided:
            made = self.sparse(*tensor.made_of)
            self.tensors[id(tensor)] = made, tensor
            return made
        base = self.storage(tensor, self.device or tensor.device.type)
        shape, keep_shape = ints_of(tensor.shape)
        strides, keep_strides = ints_of(tensor.stride())
        made = self.library.own(self.library.checked(
            self.library.c.xp_tensor_new_view, base.address, shape, strides,
            tensor.storage_offset()))
        del keep_shape, keep_strides
        if tensor.requires_grad:
            self.library.checked(self.library.c.xp_tensor_set_requires_grad, made.address, 1)
        self.tensors[id(tensor)] = made, tensor
        return made

    def sparse(self, source, swap):
        """A sparse tensor, made by the operators that made it in PyTorch; see parity_sparse.py."""
        made = self.call("aten::to_sparse", [source], {})[0]
        return made if swap is None else self.call("aten::transpose.int", [made, *swap], {})[0]

    def keep(self, value):
        self.owned.append(value)
        return value

    def number(self, value):
        scalar = self.library.own(self.library.checked(
            self.library.c.xp_tensor_new_scalar, self.value(value), -1,
            Device(BACKENDS[self.device or "cpu"], -1)))
        self.numbers.append(scalar)
        return scalar

    def value(self, value):
        """Any argument as an XpValue that is good while the session lives."""
        if value is None:
            return Value()
        if isinstance(value, bool):
            return Value(BOOL, 0, value)
        if isinstance(value, int):
            return Value(INT, 0, value & (2 ** 64 - 1))
        if isinstance(value, float):
            return Value(FLOAT, 0, struct.unpack("=Q", struct.pack("=d", value))[0])
        if isinstance(value, complex):
            return self.keep(self.library.c.xp_value_complex(value.real, value.imag))
        if isinstance(value, str):
            return self.keep(self.library.c.xp_value_string(value.encode()))
        if isinstance(value, torch.dtype):
            return Value(DTYPE, 0, DTYPES[value])
        if isinstance(value, torch.layout):
            return Value(LAYOUT, 0, LAYOUTS[value])
        if isinstance(value, torch.memory_format):
            return Value(MEMORY_FORMAT, 0, MEMORY_FORMATS[value])
        if isinstance(value, torch.device):
            index = -1 if value.index is None else value.index
            return Value(DEVICE, 0, BACKENDS[value.type] | (index & (2 ** 32 - 1)) << 32)
        if isinstance(value, torch.Tensor):
            return Value(TENSOR, 0, self.tensor(value).address)
        if isinstance(value, Tensor):
            return Value(TENSOR, 0, value.address)
        if isinstance(value, Number):
            return Value(TENSOR, 0, self.number(value.value).address)
        elements = [self.value(element) for element in value]
        array = (Value * max(len(elements), 1))(*elements)
        return self.keep(self.library.c.xp_value_list(
            self.library.c.xp_list_new(array, len(elements))))

    def call(self, name, args, kwargs):
        """Calls an operator; raises CrosspointError where it fails."""
        return self.library.call(name, [self.value(argument) for argument in args],
                                 {key: self.value(value) for key, value in kwargs.items()})
