/* SPDX-License-Identifier: MIT
 *
 * shared_object.c: shared objects read with libelf. Nothing in a file is trusted: every size is
 * checked by libelf against the bytes there are, and what does not fit is passed over.
 */
#include "shared_object.h"

#include <crosspoint.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relocations that want a variable at a fixed distance from the thread's pointer. */
static const struct
{
  GElf_Half machine;
  unsigned type;
} static_tls_relocations[] = {
  { EM_X86_64, R_X86_64_TPOFF64 },   { EM_386, R_386_TLS_TPOFF },
  { EM_386, R_386_TLS_TPOFF32 },     { EM_AARCH64, R_AARCH64_TLS_TPREL },
  { EM_ARM, R_ARM_TLS_TPOFF32 },     { EM_PPC64, R_PPC64_TPREL64 },
  { EM_RISCV, R_RISCV_TLS_TPREL64 }, { EM_RISCV, R_RISCV_TLS_TPREL32 },
  { EM_S390, R_390_TLS_TPOFF },
};

/* Names that linkers give every file. */
static const char *const linker_names[] = {
  "_init",         "_fini",       "_edata",     "edata",   "_end",   "end",  "__bss_start",
  "__bss_start__", "__bss_end__", "_bss_end__", "__end__", "_etext", "etext"
};

/* --- Lists of names. --- */

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

void
names_sort (GPtrArray *names)
{
  g_ptr_array_sort (names, compare_names);
  for (unsigned i = names->len; i-- > 1;)
    if (strcmp (names->pdata[i], names->pdata[i - 1]) == 0)
      names->pdata[i] = (g_free (names->pdata[i]), NULL);
  unsigned n = 0;
  for (unsigned i = 0; i < names->len; i++)
    if (names->pdata[i] != NULL)
      names->pdata[n++] = names->pdata[i];
  for (unsigned i = n; i < names->len; i++)
    names->pdata[i] = NULL;
  g_ptr_array_set_size (names, (int) n);
}

gboolean
names_contain (const GPtrArray *names, const char *name)
{
  return names->len > 0
         && bsearch (&name, names->pdata, names->len, sizeof *names->pdata, compare_names) != NULL;
}

/* --- Symbols. --- */

/* The table of the symbols that count at run time, and what relocations say of each. */
typedef struct
{
  SharedObject *object;
  Elf *elf;
  size_t section; /* its number; 0 for none */
  size_t strings; /* the number of that of its names */
  Elf_Data *data;
  size_t n;
  GByteArray *is_looked_up;
} Symbols;

static size_t
count_entries (const Elf_Data *data, Elf *elf, Elf_Type type)
{
  size_t size = gelf_fsize (elf, type, 1, EV_CURRENT);
  return size > 0 && data->d_buf != NULL ? MIN (data->d_size / size, G_MAXINT) : 0;
}

static void
find_symbols (Symbols *symbols)
{
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while (symbols->data == NULL && (section = elf_nextscn (symbols->elf, section)) != NULL)
    {
      if (gelf_getshdr (section, &header) == NULL || header.sh_type != SHT_DYNSYM)
        continue;
      symbols->section = elf_ndxscn (section);
      symbols->strings = header.sh_link;
      symbols->data = elf_getdata (section, NULL);
    }
  if (symbols->data != NULL)
    symbols->n = count_entries (symbols->data, symbols->elf, ELF_T_SYM);
  g_byte_array_set_size (symbols->is_looked_up, (guint) symbols->n);
  if (symbols->n > 0)
    memset (symbols->is_looked_up->data, 0, symbols->n);
  symbols->object->has_symbols = symbols->n > 0;
}

static gboolean
is_given_by_linker (const GElf_Sym *symbol, const char *name)
{
  /* The names of versions are absolute symbols. */
  if (symbol->st_shndx == SHN_ABS && symbol->st_size == 0)
    return TRUE;
  for (unsigned i = 0; i < XP_LENGTH (linker_names); i++)
    if (strcmp (name, linker_names[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_visible (const GElf_Sym *symbol)
{
  unsigned visibility = GELF_ST_VISIBILITY (symbol->st_other);
  return (visibility == STV_DEFAULT || visibility == STV_PROTECTED)
         && GELF_ST_BIND (symbol->st_info) != STB_LOCAL;
}

static void
take_symbol (Symbols *symbols, size_t i)
{
  SharedObject *object = symbols->object;
  GElf_Sym symbol;
  if (gelf_getsym (symbols->data, (int) i, &symbol) == NULL)
    return;
  const char *name = elf_strptr (symbols->elf, symbols->strings, symbol.st_name);
  if (name == NULL || name[0] == '\0' || GELF_ST_BIND (symbol.st_info) == STB_LOCAL)
    return;
  if (symbol.st_shndx == SHN_UNDEF)
    g_ptr_array_add (GELF_ST_BIND (symbol.st_info) == STB_WEAK ? object->optional
                                                               : object->imported,
                     g_strdup (name));
  if (symbol.st_shndx == SHN_UNDEF || !is_visible (&symbol) || is_given_by_linker (&symbol, name))
    return;
  gboolean is_unique = GELF_ST_BIND (symbol.st_info) == STB_GNU_UNIQUE;
  g_ptr_array_add (object->exported, g_strdup (name));
  if (is_unique)
    g_ptr_array_add (object->unique, g_strdup (name));
  else if (symbols->is_looked_up->data[i] && GELF_ST_VISIBILITY (symbol.st_other) == STV_DEFAULT)
    g_ptr_array_add (object->own_lookups, g_strdup (name));
}

enum
{
  ANY_TYPE = -1
};

static gboolean
is_static_tls (const SharedObject *object, gint64 type)
{
  for (unsigned i = 0; i < XP_LENGTH (static_tls_relocations); i++)
    if (static_tls_relocations[i].machine == object->machine
        && (type == ANY_TYPE || static_tls_relocations[i].type == type))
      return TRUE;
  return FALSE;
}

/* A relocation of a variable of the file itself has no symbol, or one that the file defines. */
static void
take_relocation (Symbols *symbols, size_t symbol_number, guint32 type)
{
  GElf_Sym symbol = { .st_shndx = SHN_ABS };
  if (symbol_number >= symbols->n
      || (symbol_number > 0 && gelf_getsym (symbols->data, (int) symbol_number, &symbol) == NULL))
    return;
  if (symbol_number > 0)
    symbols->is_looked_up->data[symbol_number] = 1;
  if (symbol.st_shndx != SHN_UNDEF && is_static_tls (symbols->object, type))
    symbols->object->tls_is_static = TRUE;
}

static void
take_relocations (Symbols *symbols, Elf_Data *data, gboolean has_addends)
{
  size_t n = count_entries (data, symbols->elf, has_addends ? ELF_T_RELA : ELF_T_REL);
  for (size_t i = 0; i < n; i++)
    {
      GElf_Rela rela;
      GElf_Rel rel;
      if (has_addends && gelf_getrela (data, (int) i, &rela) != NULL)
        take_relocation (symbols, GELF_R_SYM (rela.r_info), (guint32) GELF_R_TYPE (rela.r_info));
      else if (!has_addends && gelf_getrel (data, (int) i, &rel) != NULL)
        take_relocation (symbols, GELF_R_SYM (rel.r_info), (guint32) GELF_R_TYPE (rel.r_info));
    }
}

/* --- The dynamic section, notes, segments. --- */

static void
replace_text (char **text, const char *value)
{
  g_free (*text);
  *text = g_strdup (value);
}

static void
take_flags (SharedObject *object, const GElf_Dyn *entry)
{
  uint64_t flags = entry->d_un.d_val;
  if (entry->d_tag == DT_FLAGS)
    {
      object->is_symbolic |= (flags & DF_SYMBOLIC) != 0;
      object->has_text_relocations |= (flags & DF_TEXTREL) != 0;
      object->binds_now |= (flags & DF_BIND_NOW) != 0;
      /* The flag may be about another library's variables; relocations tell, where we know them. */
      object->tls_is_static |= (flags & DF_STATIC_TLS) != 0 && !is_static_tls (object, ANY_TYPE);
    }
  else
    {
      object->is_nodelete |= (flags & DF_1_NODELETE) != 0;
      object->binds_now |= (flags & DF_1_NOW) != 0;
      object->is_library &= (flags & DF_1_PIE) == 0;
    }
}

static void
take_dynamic (SharedObject *object, Elf *elf, const GElf_Shdr *header, Elf_Data *data)
{
  size_t n = count_entries (data, elf, ELF_T_DYN), word = object->class_ == ELFCLASS64 ? 8 : 4;
  for (size_t i = 0; i < n; i++)
    {
      GElf_Dyn entry;
      if (gelf_getdyn (data, (int) i, &entry) == NULL || entry.d_tag == DT_NULL)
        return;
      const char *text = NULL;
      if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME || entry.d_tag == DT_RPATH
          || entry.d_tag == DT_RUNPATH)
        text = elf_strptr (elf, header->sh_link, entry.d_un.d_val);
      if (text != NULL && entry.d_tag == DT_NEEDED)
        g_ptr_array_add (object->needed, g_strdup (text));
      else if (text != NULL)
        replace_text (entry.d_tag == DT_SONAME  ? &object->soname
                      : entry.d_tag == DT_RPATH ? &object->rpath
                                                : &object->runpath,
                      text);
      if (entry.d_tag == DT_FLAGS || entry.d_tag == DT_FLAGS_1)
        take_flags (object, &entry);
      object->is_symbolic |= entry.d_tag == DT_SYMBOLIC;
      object->has_text_relocations |= entry.d_tag == DT_TEXTREL;
      object->binds_now |= entry.d_tag == DT_BIND_NOW;
      if (entry.d_tag == DT_FINI_ARRAYSZ)
        object->n_destructors = (unsigned) MIN (entry.d_un.d_val / word, G_MAXINT);
    }
}

static void
take_notes (SharedObject *object, Elf_Data *data)
{
  size_t offset = 0, name, text;
  GElf_Nhdr header;
  while (offset < data->d_size && (offset = gelf_getnote (data, offset, &header, &name, &text)) > 0)
    object->has_build_id |= header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4
                            && header.n_descsz > 0
                            && memcmp ((const char *) data->d_buf + name, "GNU", 4) == 0;
}

/* Without a word on the stack, the machines of Intel take it for an executable one. */
static void
take_segments (SharedObject *object, Elf *elf)
{
  size_t n;
  gboolean has_stack = FALSE, is_shared = FALSE;
  if (elf_getphdrnum (elf, &n) != 0)
    return;
  for (size_t i = 0; i < MIN (n, G_MAXINT); i++)
    {
      GElf_Phdr header;
      if (gelf_getphdr (elf, (int) i, &header) == NULL)
        return;
      is_shared |= header.p_type == PT_DYNAMIC;
      object->has_relro |= header.p_type == PT_GNU_RELRO;
      if (header.p_type == PT_TLS)
        object->tls_size = header.p_memsz;
      if (header.p_type == PT_GNU_STACK)
        {
          has_stack = TRUE;
          object->has_executable_stack = (header.p_flags & PF_X) != 0;
        }
    }
  object->has_executable_stack |= is_shared && !has_stack
                                  && (object->machine == EM_X86_64 || object->machine == EM_386);
}

static void
take_sections (Symbols *symbols)
{
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while ((section = elf_nextscn (symbols->elf, section)) != NULL)
    {
      if (gelf_getshdr (section, &header) == NULL
          || (header.sh_type != SHT_DYNAMIC && header.sh_type != SHT_NOTE
              && header.sh_type != SHT_REL && header.sh_type != SHT_RELA))
        continue;
      Elf_Data *data = elf_getdata (section, NULL);
      if (data == NULL || data->d_buf == NULL)
        continue;
      if (header.sh_type == SHT_DYNAMIC)
        take_dynamic (symbols->object, symbols->elf, &header, data);
      else if (header.sh_type == SHT_NOTE)
        take_notes (symbols->object, data);
      else if (header.sh_link == symbols->section && symbols->n > 0)
        take_relocations (symbols, data, header.sh_type == SHT_RELA);
    }
}

/* --- A file. --- */

static SharedObject *
object_new (const char *path)
{
  SharedObject *object = g_new0 (SharedObject, 1);
  GPtrArray **lists[] = { &object->needed,      &object->exported, &object->unique,
                          &object->own_lookups, &object->imported, &object->optional };
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    *lists[i] = g_ptr_array_new_with_free_func (g_free);
  object->path = g_strdup (path);
  return object;
}

void
shared_object_free (SharedObject *object)
{
  if (object == NULL)
    return;
  GPtrArray *lists[] = { object->needed,      object->exported, object->unique,
                         object->own_lookups, object->imported, object->optional };
  char *texts[] = { object->path, object->soname, object->rpath, object->runpath };
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    g_ptr_array_unref (lists[i]);
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    g_free (texts[i]);
  g_free (object);
}

static SharedObject *
read_elf (Elf *elf, const char *path)
{
  GElf_Ehdr header;
  if (elf == NULL || elf_kind (elf) != ELF_K_ELF || gelf_getehdr (elf, &header) == NULL
      || (header.e_type != ET_DYN && header.e_type != ET_EXEC))
    return NULL;
  SharedObject *object = object_new (path);
  object->machine = header.e_machine;
  object->class_ = header.e_ident[EI_CLASS];
  object->byte_order = header.e_ident[EI_DATA];
  object->is_library = header.e_type == ET_DYN;
  g_autoptr (GByteArray) is_looked_up = g_byte_array_new ();
  Symbols symbols = { .object = object, .elf = elf, .is_looked_up = is_looked_up };
  find_symbols (&symbols);
  take_segments (object, elf);
  take_sections (&symbols);
  for (size_t i = 1; i < symbols.n; i++)
    take_symbol (&symbols, i);
  GPtrArray *lists[] = { object->exported, object->unique, object->own_lookups, object->imported,
                         object->optional };
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    names_sort (lists[i]);
  return object;
}

/* Looked at before it is opened, for opening does something to a device. */
static int
open_regular (const char *path, GError **error)
{
  struct stat status;
  int fd = -1;
  if (stat (path, &status) != 0
      || (S_ISREG (status.st_mode) && (fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0))
    xp_error_set (error, XP_ERROR_FILE_IO, &(XpErrorDetails){ .plugin = (char *) path },
                  "%s cannot be opened: %s", path, g_strerror (errno));
  else if (!S_ISREG (status.st_mode) || fstat (fd, &status) != 0 || !S_ISREG (status.st_mode))
    {
      xp_error_set (error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = (char *) path },
                    "%s is no plugin: it is not a regular file", path);
      if (fd >= 0)
        close (fd);
      fd = -1;
    }
  return fd;
}

SharedObject *
shared_object_read (const char *path, GError **error)
{
  int fd = open_regular (path, error);
  if (fd < 0)
    return NULL;
  elf_version (EV_CURRENT);
  Elf *elf = elf_begin (fd, ELF_C_READ, NULL);
  SharedObject *object = read_elf (elf, path);
  if (elf != NULL)
    elf_end (elf);
  close (fd);
  if (object == NULL)
    xp_error_set (error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = (char *) path },
                  "%s is no plugin: it is not a shared object", path);
  return object;
}
