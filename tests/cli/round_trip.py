#!/usr/bin/env python3
"""Random schemas through the generator: each is called from C and with values, its kernel is typed or
boxed, and every argument and result has to arrive as it was sent.

  round_trip.py PROGRAM BUILD SEED [FLAG…]      FLAGs are for the C compiler
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

N_SCHEMAS = 200


def numbers(make, type_, texts):
    """The array of a list in C, and the list as a value."""
    if not texts:
        return f"({type_}){{ NULL, 0 }}"
    element = {"XpInts": "int64_t", "XpFloats": "double", "XpBools": "bool", "XpTensors": "XpTensor *"}[type_]
    return f"({type_}){{ ({element}[]){{ {', '.join(texts)} }}, {len(texts)} }}"


# A plain type: its name in schemas, in C, how C becomes a value, values in C, and as defaults of a schema.
PLAIN = {
    "int": ("int64_t", "xp_value_int (%s)", ["7", "-3", "0", "INT64_C (9007199254740993)"],
            ["7", "-3", "0", "9007199254740993"]),
    "SymInt": ("int64_t", "xp_value_int (%s)", ["11", "-1"], ["11", "-1"]),
    "float": ("double", "xp_value_float (%s)", ["2.5", "-0.125", "1e300"], ["2.5", "-0.125", "1e300"]),
    "bool": ("bool", "xp_value_bool (%s)", ["true", "false"], ["True", "False"]),
    "ScalarType": ("XpDType", "xp_value_dtype (%s)", ["XP_INT64", "XP_BFLOAT16", "XP_UINT8"], None),
    "Layout": ("XpLayout", "xp_value_layout (%s)", ["XP_STRIDED", "(XpLayout) 1"], None),
    "MemoryFormat": ("XpMemoryFormat", "xp_value_memory_format (%s)",
                     ["XP_CONTIGUOUS_FORMAT", "(XpMemoryFormat) 2"], ["contiguous_format", None]),
    "Device": ("XpDevice", "xp_value_device (%s)", ["XP_CPU", "((XpDevice){ XP_BACKEND_Meta, -1 })"], None),
}
TENSORS = ["t0", "t1", "t2"]
LISTS = {"int": ("XpInts", "ints"), "SymInt": ("XpInts", "ints"), "float": ("XpFloats", "floats"),
         "bool": ("XpBools", "bools")}
# Types without a form of their own are values: made once, by these names.
VALUES = {"str[]": "v_texts", "complex": "v_complex", "Dict(str, int)": "v_dict", "Tensor[][]": "v_nested",
          "Any": "v_complex", "(int, Tensor)": "v_pair"}


class Argument:
    """A type, one of its values, and what both are in C: what a caller passes and what arrives."""

    def __init__(self, chance, name):
        self.name = name
        self.default = None  # (text in the schema, value in C)
        kind = chance.choice(["plain", "plain", "optional", "list", "list", "tensor", "text", "scalar", "generator",
                              "value"])
        getattr(self, kind)(chance)

    def plain(self, chance):
        self.type = chance.choice(list(PLAIN))
        c, box, values, texts = PLAIN[self.type]
        self.c, self.passed = f"{c} ", chance.choice(values)
        self.value, self.read = box % self.passed, box % "%s"
        if texts is not None and chance.random() < 0.5:
            self.set_default(chance, values, texts, box)

    def set_default(self, chance, values, texts, box):
        i = chance.randrange(len(values))
        if texts[i] is not None:
            self.default = (texts[i], box % values[i])

    def optional(self, chance):
        inner = chance.choice(list(PLAIN))
        c, box, values, texts = PLAIN[inner]
        self.type, self.c = f"{inner}?", f"const {c} *"
        chosen = chance.choice(values + [None])
        self.passed = f"&({c}){{ {chosen} }}" if chosen and inner != "Device" else "NULL"
        if chosen and inner == "Device":
            self.passed = "&d_meta" if "Meta" in chosen else "&d_cpu"
        self.value = box % chosen if chosen else "XP_NONE"
        self.read = f"(%s != NULL ? {box % '*%s'} : XP_NONE)"
        if chance.random() < 0.3:
            self.default = ("None", "XP_NONE")
        elif texts is not None and chance.random() < 0.4:
            self.set_default(chance, values, texts, box)

    def list(self, chance):
        if chance.random() < 0.4:
            return self.tensors(chance)
        inner = chance.choice(list(LISTS))
        c, boxes = LISTS[inner]
        _, _, values, texts = PLAIN[inner]
        size = chance.choice(["", "", "2"])
        chosen = [chance.randrange(len(values)) for _ in range(2 if size else chance.randrange(4))]
        listed = numbers(boxes, c, [values[i] for i in chosen])
        self.value = f"of_{boxes} ({listed})"
        if chance.random() < 0.3:
            self.type, self.c = f"{inner}[{size}]?", f"const {c} *"
            is_none = chance.random() < 0.3
            self.passed = "NULL" if is_none else f"&{listed}"
            self.value = "XP_NONE" if is_none else self.value
            self.read = f"(%s != NULL ? of_{boxes} (*%s) : XP_NONE)"
            return None
        self.type, self.c, self.passed, self.read = f"{inner}[{size}]", f"{c} ", listed, f"of_{boxes} (%s)"
        if chance.random() < 0.3 and not any("9007" in values[i] for i in chosen):
            self.default = (f"[{', '.join(texts[i] for i in chosen)}]", self.value)
        return None

    def tensors(self, chance):
        holes = chance.random() < 0.5
        chosen = [chance.choice(TENSORS + (["NULL"] if holes else [])) for _ in range(chance.randrange(4))]
        listed = numbers("tensors", "XpTensors", chosen)
        self.value = f"of_tensors ({listed})"
        if not holes and chance.random() < 0.3:
            self.type, self.c, self.passed = "Tensor[]?", "const XpTensors *", f"&{listed}"
            self.read = "(%s != NULL ? of_tensors (*%s) : XP_NONE)"
        else:
            self.type, self.c, self.passed = "Tensor?[]" if holes else "Tensor[]", "XpTensors ", listed
            self.read = "of_tensors (%s)"

    def tensor(self, chance):
        self.type, self.c = chance.choice(["Tensor", "Tensor?"]), "XpTensor *"
        self.passed = chance.choice(TENSORS + (["NULL"] if self.type == "Tensor?" else []))
        self.read = "of_tensor (%s)"
        self.value = f"of_tensor ({self.passed})"
        if self.type == "Tensor?" and chance.random() < 0.4:
            self.default = ("None", "XP_NONE")

    def text(self, chance):
        self.type, self.c = chance.choice(["str", "str?"]), "const char *"
        self.passed = chance.choice(['"text"', '""', '"a \\"b\\" c"'] + (["NULL"] if self.type == "str?" else []))
        self.read, self.value = "of_text (%s)", f"of_text ({self.passed})"
        if chance.random() < 0.4:
            self.default = ('"de\\"fault"', 'of_text ("de\\"fault")')

    def scalar(self, chance):
        chosen = chance.choice(["xp_value_int (3)", "xp_value_float (0.5)", "xp_value_bool (true)", "v_complex"])
        if chance.random() < 0.5:
            self.type, self.c, self.passed, self.read = "Scalar", "XpValue ", chosen, "xp_value_ref (%s)"
            self.value = f"xp_value_ref ({chosen})"
            if chance.random() < 0.4:
                self.default = ("2.5", "xp_value_float (2.5)")
            return
        self.type, self.c = "Scalar?", "const XpValue *"
        is_none = chance.random() < 0.3
        self.passed = "NULL" if is_none else f"&(XpValue){{ {chosen}.tag, {chosen}.length, {chosen}.as }}"
        self.passed = "NULL" if is_none else f"(XpValue[]){{ {chosen} }}"
        self.value = "XP_NONE" if is_none else f"xp_value_ref ({chosen})"
        self.read = "(%s != NULL ? not_none (xp_value_ref (*%s)) : XP_NONE)"

    def generator(self, chance):
        self.type, self.c = chance.choice(["Generator", "Generator?"]), "XpGenerator *"
        self.passed = chance.choice(["g0"] + (["NULL"] if self.type == "Generator?" else []))
        self.read, self.value = "of_generator (%s)", f"of_generator ({self.passed})"

    def value(self, chance):
        self.type, self.c = chance.choice(list(VALUES)), "XpValue "
        self.passed = VALUES[self.type]
        self.read, self.value = "xp_value_ref (%s)", f"xp_value_ref ({self.passed})"

    def arrived(self, name):
        return self.read.replace("%s", name)


class Result:
    """A type, and one of its values: what a typed kernel gives, and what arrives."""
    KINDS = [
        ("Tensor", "XpTensor *", ["xp_tensor_ref (t0)", "xp_tensor_ref (t1)"], "take_tensor (%s)"),
        ("Tensor?", "XpTensor *", ["xp_tensor_ref (t2)", "NULL"], "take_tensor (%s)"),
        ("int", "int64_t ", ["5", "-8"], "xp_value_int (%s)"),
        ("float", "double ", ["1.25", "-0.5"], "xp_value_float (%s)"),
        ("bool", "bool ", ["true", "false"], "xp_value_bool (%s)"),
        ("Scalar", "XpValue ", ["xp_value_int (4)", "xp_value_ref (v_complex)"], "(%s)"),
        ("ScalarType", "XpDType ", ["XP_FLOAT64", "XP_BOOL"], "xp_value_dtype (%s)"),
        ("Layout", "XpLayout ", ["XP_STRIDED", "(XpLayout) 1"], "xp_value_layout (%s)"),
        ("MemoryFormat", "XpMemoryFormat ", ["XP_CONTIGUOUS_FORMAT"], "xp_value_memory_format (%s)"),
        ("Device", "XpDevice ", ["XP_CPU", "d_meta"], "xp_value_device (%s)"),
        ("Tensor[]", "XpList *", ["xp_list_new_tensor ((XpTensor *[]){ t0, t2 }, 2)", "xp_list_new (NULL, 0)"], "take_list (%s)"),
        ("int[]", "XpList *", ["xp_list_new_int ((int64_t[]){ 3, -4 }, 2)"], "take_list (%s)"),
        ("str[]", "XpList *", ["texts_new ()"], "take_list (%s)"),
        ("str", "XpValue ", ["xp_value_string (\"given\")", "xp_value_string (\"\")"], "(%s)"),
        ("str?", "XpValue ", ["xp_value_string (\"given\")", "XP_NONE"], "(%s)"),
        ("complex", "XpValue ", ["xp_value_complex (2, 0.5)"], "(%s)"),
        ("Dict(str, int)", "XpValue ", ["xp_value_ref (v_dict)"], "(%s)"),
    ]

    def __init__(self, chance):
        self.type, self.c, gives, self.read = chance.choice(self.KINDS)
        self.gives = chance.choice(gives)
        self.value = self.read.replace("%s", self.gives)


class Operator:
    def __init__(self, chance, number):
        self.name = f"op{number}"
        self.arguments = [Argument(chance, f"a{i}") for i in range(chance.randrange(13))]
        self.results = [Result(chance) for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))]
        # What has a default stands behind what has none.
        self.arguments.sort(key=lambda argument: argument.default is not None)
        self.n_positional = chance.randrange(len(self.arguments) + 1)

    def schema(self):
        parts = []
        for i, argument in enumerate(self.arguments):
            parts += ["*"] if i == self.n_positional else []
            text = f"={argument.default[0]}" if argument.default else ""
            parts.append(f"{argument.type} {argument.name}{text}")
        results = ", ".join(result.type for result in self.results)
        return f"trip::{self.name}({', '.join(parts)}) -> " + (results if len(self.results) == 1 else f"({results})")

    def has_default(self):
        return any(argument.default for argument in self.arguments)

    def passed(self, with_defaults):
        return "".join(f"{argument.passed}, " for argument in self.arguments if with_defaults or not argument.default)

    def parameters(self):
        return "".join(f"{argument.c}{argument.name}, " for argument in self.arguments) + "".join(
            f"{result.c}*r{i}, " for i, result in enumerate(self.results))

    def values(self, defaults):
        chosen = [argument.default[1] if defaults and argument.default else argument.value
                  for argument in self.arguments]
        return "".join(f"  values[{i}] = {value};\n" for i, value in enumerate(chosen))

    def call(self, suffix, keys, with_defaults):
        declared = "".join(f"    {result.c}r{i};\n" for i, result in enumerate(self.results))
        out = "".join(f"&r{i}, " for i in range(len(self.results)))
        taken = "".join(f"    results[{i}] = {result.read.replace('%s', f'r{i}')};\n"
                        for i, result in enumerate(self.results))
        return (f"  {{\n{declared}    XpStatus status = xp_trip_{self.name}{suffix} "
                f"({keys}{self.passed(with_defaults)}{out}&error);\n"
                f"    if (status != XP_OK)\n      return failed (\"{self.name}{suffix}\", error);\n"
                f"{taken}    check_results (\"{self.name}{suffix}\", results, {len(self.results)}, give_{self.name});\n  }}\n")

    def code(self):
        read = "".join(f"  values[{i}] = {argument.arrived(argument.name)};\n"
                       for i, argument in enumerate(self.arguments))
        given = "".join(f"  *r{i} = {result.gives};\n" for i, result in enumerate(self.results))
        results = "".join(f"  results[{i}] = {result.value};\n" for i, result in enumerate(self.results))
        n = len(self.arguments)
        default_call = ""
        if self.has_default():
            default_call = (f"  expected = {self.name}_defaults;\n" + self.call("_default", "", False)
                            + f"  expected = {self.name}_values;\n")
        return f"""
static void G_GNUC_UNUSED {self.name}_values (XpValue *values)
{{
  (void) values;
{self.values(False)}}}
static void G_GNUC_UNUSED {self.name}_defaults (XpValue *values)
{{
  (void) values;
{self.values(True)}}}
static void give_{self.name} (XpValue *results)
{{
  (void) results;
{results}}}
static XpStatus typed_{self.name} (XpCall *call, {self.parameters()}GError **error)
{{
  (void) call, (void) error;
  XpValue values[16];
{read}  check_arguments ("{self.name}, typed", values, {n});
{given}  return XP_OK;
}}
static int call_{self.name} (void)
{{
  GError *error = NULL;
  XpValue arguments[16], results[4] = {{ XP_NONE, XP_NONE, XP_NONE, XP_NONE }};
  expected = {self.name}_values;
{self.call("", "", True)}{self.call("_redispatch", "xp_key_set (XP_KEY_CPU), ", True)}{default_call}\
  {self.name}_values (arguments);
  XpStatus status = xp_operator_call (xp_operator_find ("trip::{self.name}"), arguments, results, &error);
  xp_values_clear (arguments, {n});
  if (status != XP_OK)
    return failed ("{self.name}, boxed", error);
  check_results ("{self.name}, boxed", results, {len(self.results)}, give_{self.name});
  return 0;
}}
"""


SUPPORT = r"""
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include "trip.h"

static XpTensor *t0, *t1, *t2;
static XpGenerator *g0;
static XpDevice d_cpu, d_meta = { XP_BACKEND_Meta, -1 };
static XpValue v_texts, v_complex, v_dict, v_nested, v_pair, v_tensors;
static void (*expected) (XpValue *values);
static unsigned n_wrong, n_seen;

static XpValue of_tensor (XpTensor *t) { return t != NULL ? xp_value_tensor (xp_tensor_ref (t)) : XP_NONE; }
static XpValue of_text (const char *s) { return s != NULL ? xp_value_string (s) : XP_NONE; }
static XpValue of_generator (XpGenerator *g)
{
  return g != NULL ? xp_value_ref (xp_value_generator (g)) : XP_NONE;
}
static XpValue of_ints (XpInts l) { return xp_value_list (xp_list_new_int (l.data, l.length)); }
static XpValue of_floats (XpFloats l) { return xp_value_list (xp_list_new_float (l.data, l.length)); }
static XpValue of_bools (XpBools l) { return xp_value_list (xp_list_new_bool (l.data, l.length)); }
static XpValue of_tensors (XpTensors l) { return xp_value_list (xp_list_new_tensor (l.data, l.length)); }
/* Where None has a form of its own, the value that is pointed to is not None. */
static XpValue not_none (XpValue value)
{
  return value.tag != XP_TAG_NONE ? value : xp_value_string ("a pointer to None");
}
static XpList *texts_new (void)
{
  XpValue texts[] = { xp_value_string ("one"), xp_value_string ("two") };
  XpList *list = xp_list_new (texts, 2);
  xp_values_clear (texts, 2);
  return list;
}
static XpValue take_tensor (XpTensor *t) { return t != NULL ? xp_value_tensor (t) : XP_NONE; }
static XpValue take_list (XpList *l) { return l != NULL ? xp_value_list (l) : XP_NONE; }

static void compare (const char *what, const char *part, unsigned i, XpValue found, XpValue wanted)
{
  n_seen++;
  if (xp_value_equal (found, wanted))
    return;
  g_autofree char *a = xp_value_to_string (found);
  g_autofree char *b = xp_value_to_string (wanted);
  printf ("# %s: %s %u is %s, expected %s\n", what, part, i, a, b);
  n_wrong++;
}
static void check_arguments (const char *what, XpValue *found, unsigned n)
{
  XpValue wanted[16];
  expected (wanted);
  for (unsigned i = 0; i < n; i++)
    compare (what, "argument", i, found[i], wanted[i]);
  xp_values_clear (found, n);
  xp_values_clear (wanted, n);
}
static void check_results (const char *what, XpValue *found, unsigned n, void (*give) (XpValue *))
{
  XpValue wanted[4];
  give (wanted);
  for (unsigned i = 0; i < n; i++)
    compare (what, "result", i, found[i], wanted[i]);
  xp_values_clear (found, n);
  xp_values_clear (wanted, n);
}
static int failed (const char *what, GError *error)
{
  printf ("# %s: %s\n", what, error != NULL ? error->message : "no error");
  g_clear_error (&error);
  n_wrong++;
  return 1;
}
"""

DRIVER = r"""
enum { N_SILENT = 4 }; /* even */

static XpStatus boxed_kernel (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  const Entry *entry = xp_call_data (call);
  XpValue values[16];
  (void) error;
  for (unsigned i = 0; i < entry->n_arguments; i++)
    values[i] = xp_value_ref (arguments[i]);
  check_arguments (entry->name, values, entry->n_arguments);
  entry->give (results);
  return XP_OK;
}
static void with_typed (XpLibrary *m)
{
  REGISTER_TYPED
}
static void with_boxed (XpLibrary *m)
{
  for (unsigned i = 0; i < XP_LENGTH (entries); i++)
    xp_impl_with_data (m, entries[i].name, boxed_kernel, (void *) &entries[i], NULL);
}
static void round_with (const char *kind, void (*fill) (XpLibrary *m), unsigned number)
{
  XpLibrary *m = xp_library_new (XP_LIBRARY_KIND_IMPL, "trip", "CompositeExplicitAutograd", __FILE__, 1, NULL);
  fill (m);
  n_wrong = n_seen = 0;
  for (unsigned i = 0; i < XP_LENGTH (entries); i++)
    entries[i].call ();
  if (kind != NULL)
    printf ("%sok %u - %s kernels: %u operators, %u values\n", n_wrong > 0 || n_seen == 0 ? "not " : "", number,
          kind, (unsigned) XP_LENGTH (entries), n_seen);
  xp_library_free (m);
}
int main (void)
{
  const float ones[] = { 1, 2 };
  XpTensor **tensors[] = { &t0, &t1, &t2 };
  for (unsigned i = 0; i < 3; i++)
    *tensors[i] = xp_tensor_new_copy_of (XP_FLOAT32, XP_INTS (2), ones, NULL);
  d_cpu = XP_CPU;
  g0 = xp_generator_new (XP_CPU, 1);
  v_texts = xp_value_list (texts_new ());
  v_complex = xp_value_complex (1.5, -2);
  XpValue key = xp_value_string ("key"), one = xp_value_int (1);
  v_dict = xp_value_dict (xp_dict_new (&key, &one, 1));
  v_tensors = xp_value_list (xp_list_new_tensor ((XpTensor *[]){ t0, t2 }, 2));
  v_nested = xp_value_list (xp_list_new (&v_tensors, 1));
  XpValue pair[] = { one, xp_value_tensor (t1) };
  v_pair = xp_value_list (xp_list_new (pair, 2));
  XpLibrary *rows = xp_library_new (XP_LIBRARY_KIND_FRAGMENT, "trip", NULL, __FILE__, 1, NULL);
  for (unsigned i = 0; i < XP_LENGTH (entries); i++)
    xp_def (rows, entries[i].schema);
  round_with ("typed", with_typed, 1);
  round_with ("boxed", with_boxed, 2);
  /* The table's own memory grows no more after a few rounds. */
  size_t bytes[2];
  for (unsigned i = 0; i < 2 * N_SILENT; i++)
    {
      round_with (NULL, i % 2 ? with_boxed : with_typed, 0);
      if (i + 1 >= N_SILENT && (i + 1) % N_SILENT == 0)
        bytes[i / N_SILENT] = mallinfo2 ().uordblks;
    }
  printf ("%sok 3 - nothing is lost: %zu bytes, then %zu\n1..3\n", bytes[0] == bytes[1] ? "" : "not ",
          bytes[0], bytes[1]);
  XpValue all[] = { v_texts, v_complex, v_dict, v_nested, v_pair, v_tensors, key };
  xp_values_clear (all, XP_LENGTH (all));
  for (unsigned i = 0; i < 3; i++)
    xp_tensor_unref (*tensors[i]);
  xp_generator_unref (g0);
  xp_library_free (rows);
  return 0;
}
"""


def source(operators):
    table = "".join(f'  {{ "{op.name}", {c_text(op.schema())}, {len(op.arguments)}, give_{op.name}, call_{op.name} }},\n'
                    for op in operators)
    register = "\n  ".join(f"xp_impl_trip_{op.name} (m, typed_{op.name});" for op in operators)
    return (SUPPORT + "".join(op.code() for op in operators)
            + "typedef struct { const char *name, *schema; unsigned n_arguments; void (*give) (XpValue *); "
              "int (*call) (void); } Entry;\n"
            + f"static const Entry entries[] = {{\n{table}}};\n" + DRIVER.replace("REGISTER_TYPED", register))


def c_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    program, build, seed, *flags = sys.argv[1:]
    program, build = os.path.abspath(program), os.path.abspath(build)
    chance = random.Random(int(seed))
    operators = [Operator(chance, i) for i in range(N_SCHEMAS)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "trip.ops").write_text("".join(op.schema() + "\n" for op in operators))
        (path / "trip.c").write_text(source(operators))
        if os.environ.get("KEEP"):
            pathlib.Path(os.environ["KEEP"]).write_text(source(operators))
        subprocess.run([program, "gen", "trip.ops"], cwd=folder, check=True)
        description = subprocess.run(["pkg-config", "--cflags", "--libs", "crosspoint"], check=True, text=True,
                                     stdout=subprocess.PIPE,
                                     env=dict(os.environ, PKG_CONFIG_PATH=f"{build}/meson-uninstalled")).stdout.split()
        subprocess.run(["cc", "-Wall", "-Wextra", "-Wno-unused-function", "-g", *flags, "-o", "trip", "trip.c",
                        *description, f"-Wl,-rpath,{build}/core"], cwd=folder, check=True)
        print(f"# seed {seed}", flush=True)
        # What the allocators keep to give it again would count as lost.
        environment = dict(os.environ, G_SLICE="always-malloc", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")
        return subprocess.run([f"{folder}/trip"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
