/* SPDX-License-Identifier: MIT
 *
 * note.c: what a plugin's file says about itself, read with libelf before any of its code runs.
 *
 * Nothing in the file is trusted: libelf checks the structure, and every record of the note is
 * checked against the bytes there are.
 */
#include "plugin/cpu.h"
#include "plugin/plugin.h"

#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>

enum
{
  MOST_TEXTS = 4096
};

/* Imports after which a library may not be unmapped: each hands a pointer into it to something that
 * keeps it for the rest of the process. */
static const char *const resident_imports[] = { "g_quark_from_static_string",
                                                "g_intern_static_string",
                                                "g_type_register_static",
                                                "g_type_register_static_simple",
                                                "g_type_register_fundamental",
                                                "g_type_register_dynamic",
                                                "pthread_key_create",
                                                "tss_create",
                                                "g_private_set",
                                                "g_private_replace",
                                                "__cxa_thread_atexit",
                                                "__cxa_thread_atexit_impl",
                                                "atexit" };

/* Imports that start threads, which only a fini can end. */
static const char *const thread_imports[] = {
  "pthread_create", "thrd_create", "g_thread_new", "g_thread_try_new",
  "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"
};

static const struct
{
  GElf_Half number;
  const char *name;
} machines[] = { { EM_X86_64, "x86-64" }, { EM_AARCH64, "aarch64" }, { EM_386, "i386" },
                 { EM_ARM, "arm" },       { EM_RISCV, "riscv" },     { EM_PPC64, "ppc64" },
                 { EM_S390, "s390" } };

/* What is gathered while a file is read. */
typedef struct
{
  XpPluginInfo *info;
  char *starts_threads; /* the import it does so with; NULL for none */
  bool has_fini;
  GPtrArray *requires_;
  GPtrArray *defines;
  GPtrArray *fills;
  GPtrArray *kernels;
  GPtrArray *cpu;
  unsigned n_texts;
  bool has_note;
  const XpLinkedPlugin *linked; /* whose records are taken; NULL for those of the file's own */
} Reading;

static bool
set_invalid (const char *path, GError **error, const char *what)
{
  xp_error_set (error, XP_ERROR_INVALID_NOTE, &(XpErrorDetails){ .plugin = (char *) path },
                "%s: the Crosspoint note is damaged: %s; build the plugin again", path, what);
  return false;
}

static void
add_once (GPtrArray *list, const char *text)
{
  for (unsigned i = 0; i < list->len; i++)
    if (strcmp (list->pdata[i], text) == 0)
      return;
  g_ptr_array_add (list, g_strdup (text));
}

static bool
name_is_well_formed (const char *name)
{
  return name[0] != '\0' && name[0] != '.' && strlen (name) <= 64
         && strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.") == strlen (name);
}

/* Each object file of a plugin says for which ABI it is built: the highest of one major number
 * counts. */
static bool
take_abi (XpPluginInfo *info, const char *abi, const char *path, GError **error)
{
  size_t major = strcspn (abi, ".");
  if (info->abi[0] != '\0'
      && (strcspn (info->abi, ".") != major || strncmp (info->abi, abi, major) != 0))
    {
      g_autofree char *what = g_strdup_printf (
          "it is made of objects for different ABIs, %s and %s", info->abi, abi);
      return set_invalid (path, error, what);
    }
  if (strverscmp (abi, info->abi) > 0)
    {
      g_free (info->abi);
      info->abi = g_strdup (abi);
    }
  return true;
}

/* One text `key=value`. Unknown keys are for later versions. */
static bool
take_text (Reading *reading, const char *text, const char *path, GError **error)
{
  XpPluginInfo *info = reading->info;
  const char *equals = strchr (text, '=');
  if (equals == NULL)
    return set_invalid (path, error, "a text without '='");
  const char *value = equals + 1;
  size_t n = (size_t) (equals - text);
  const struct
  {
    const char *key;
    char **single;
    GPtrArray *list;
  } known[] = {
    { "name", &info->name, NULL },
    { "version", &info->version, NULL },
    { "description", &info->description, NULL },
    { "licence", &info->licence, NULL },
    { "resident", &info->resident, NULL },
    { "requires", NULL, reading->requires_ },
    { "defines", NULL, reading->defines },
    { "fills", NULL, reading->fills },
    { "kernels", NULL, reading->kernels },
    { "cpu", NULL, reading->cpu },
  };
  for (unsigned i = 0; i < XP_LENGTH (known); i++)
    if (strlen (known[i].key) == n && strncmp (known[i].key, text, n) == 0)
      {
        if (known[i].list != NULL)
          add_once (known[i].list, value);
        else
          {
            g_free (*known[i].single);
            *known[i].single = g_strdup (value);
            info->declares_resident |= known[i].single == &info->resident;
          }
      }
  if (info->name != NULL && !name_is_well_formed (info->name))
    return set_invalid (path, error, "the name has other characters than letters, digits, _ - .");
  if (n == strlen ("abi") && strncmp (text, "abi", n) == 0)
    return take_abi (info, value, path, error);
  if (n == strlen ("priority") && strncmp (text, "priority", n) == 0)
    {
      char *end;
      gint64 priority = g_ascii_strtoll (value, &end, 10);
      if (*value == '\0' || *end != '\0' || priority < -1000000 || priority > 1000000)
        return set_invalid (path, error, "the priority is no number between -1000000 and 1000000");
      info->priority = (int) priority;
    }
  return true;
}

/* Records of plugins that are linked statically into the file begin with whose they are. */
static bool
is_record_wanted (const Reading *reading, const char *bytes)
{
  const char *key = "plugin=";
  if (reading->linked == NULL)
    return !g_str_has_prefix (bytes, key);
  return g_str_has_prefix (bytes, key) && strcmp (bytes + strlen (key), reading->linked->name) == 0;
}

/* The texts of one record; each ends with a NUL, the last one too. */
static bool
take_record (Reading *reading, const char *bytes, size_t n, const char *path, GError **error)
{
  if (n == 0 || bytes[n - 1] != '\0')
    return set_invalid (path, error, "a record does not end with NUL");
  if (!is_record_wanted (reading, bytes))
    return true;
  reading->has_note = true;
  for (size_t at = 0; at < n; at += strlen (bytes + at) + 1)
    {
      const char *text = bytes + at;
      if (*text == '\0')
        continue;
      if (!g_utf8_validate (text, -1, NULL))
        return set_invalid (path, error, "it is not UTF-8");
      if (++reading->n_texts > MOST_TEXTS)
        return set_invalid (path, error, "it has too many texts");
      if (!take_text (reading, text, path, error))
        return false;
    }
  return true;
}

static void
take_build_id (Reading *reading, const unsigned char *bytes, size_t n)
{
  GString *hex = g_string_new (NULL);
  for (size_t i = 0; i < n && i < 64; i++)
    g_string_append_printf (hex, "%02x", bytes[i]);
  g_free (reading->info->build_id);
  reading->info->build_id = g_string_free (hex, FALSE);
}

static bool
take_notes (Reading *reading, Elf_Data *data, bool is_ours, const char *path, GError **error)
{
  size_t offset = 0, name_offset, text_offset;
  GElf_Nhdr header;
  while (offset < data->d_size)
    {
      size_t next = gelf_getnote (data, offset, &header, &name_offset, &text_offset);
      if (next == 0)
        return is_ours ? set_invalid (path, error, "a record is longer than its section") : true;
      const char *name = (const char *) data->d_buf + name_offset;
      const char *text = (const char *) data->d_buf + text_offset;
      if (header.n_namesz == sizeof XP_NOTE_OWNER
          && memcmp (name, XP_NOTE_OWNER, sizeof XP_NOTE_OWNER) == 0
          && header.n_type == XP_NOTE_TYPE)
        {
          if (!take_record (reading, text, header.n_descsz, path, error))
            return false;
        }
      else if (header.n_namesz == sizeof XP_NOTE_OWNER
               && memcmp (name, XP_NOTE_OWNER, sizeof XP_NOTE_OWNER) == 0
               && header.n_type == XP_CORE_NOTE_TYPE)
        reading->info->has_core = TRUE;
      else if (header.n_namesz == 4 && memcmp (name, "GNU", 4) == 0
               && header.n_type == NT_GNU_BUILD_ID)
        take_build_id (reading, (const unsigned char *) text, header.n_descsz);
      else if (is_ours)
        return set_invalid (path, error, "a record is not ours");
      offset = next;
    }
  return true;
}

static bool
is_in (const char *name, const char *const *names, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp (name, names[i]) == 0)
      return true;
  return false;
}

gboolean
xp_import_is_resident (const char *symbol)
{
  g_return_val_if_fail (symbol != NULL, FALSE);
  return is_in (symbol, resident_imports, XP_LENGTH (resident_imports));
}

gboolean
xp_import_starts_threads (const char *symbol)
{
  g_return_val_if_fail (symbol != NULL, FALSE);
  return is_in (symbol, thread_imports, XP_LENGTH (thread_imports));
}

static void
take_import (Reading *reading, const char *name)
{
  if (reading->info->resident == NULL && xp_import_is_resident (name))
    reading->info->resident = g_strdup_printf ("it imports %s, so something keeps pointers into it",
                                               name);
  if (xp_import_starts_threads (name))
    {
      g_free (reading->starts_threads);
      reading->starts_threads = g_strdup (name);
    }
}

/* What the file imports or declares that would keep it mapped. */
static void
take_symbols (Reading *reading, Elf *elf, const GElf_Shdr *header, Elf_Data *data)
{
  size_t n = header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
  for (size_t i = 0; i < n; i++)
    {
      GElf_Sym symbol;
      if (gelf_getsym (data, (int) i, &symbol) == NULL)
        break;
      const char *name = elf_strptr (elf, header->sh_link, symbol.st_name);
      if (name == NULL)
        continue;
      if (GELF_ST_BIND (symbol.st_info) == STB_GNU_UNIQUE && reading->info->resident == NULL)
        reading->info->resident = g_strdup_printf (
            "it has the unique symbol %s, which the linker never lets go", name);
      if (symbol.st_shndx == SHN_UNDEF)
        take_import (reading, name);
      else
        reading->has_fini |= strcmp (name, "xp_plugin_fini") == 0;
    }
}

static void
take_dynamic (Reading *reading, const GElf_Shdr *header, Elf_Data *data)
{
  size_t n = header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
  for (size_t i = 0; i < n; i++)
    {
      GElf_Dyn entry;
      if (gelf_getdyn (data, (int) i, &entry) == NULL || entry.d_tag == DT_NULL)
        return;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NODELETE) != 0
          && reading->info->resident == NULL)
        reading->info->resident = g_strdup ("it is linked with -z nodelete");
    }
}

static bool
take_sections (Reading *reading, Elf *elf, const char *path, GError **error)
{
  size_t names;
  Elf_Scn *section = NULL;
  if (elf_getshdrstrndx (elf, &names) != 0)
    return true;
  while ((section = elf_nextscn (elf, section)) != NULL)
    {
      GElf_Shdr header;
      if (gelf_getshdr (section, &header) == NULL)
        break;
      if (header.sh_type != SHT_NOTE && header.sh_type != SHT_DYNSYM
          && header.sh_type != SHT_DYNAMIC)
        continue;
      const char *name = elf_strptr (elf, names, header.sh_name);
      bool is_ours = name != NULL && strcmp (name, XP_NOTE_SECTION) == 0;
      Elf_Data *data = elf_getdata (section, NULL);
      if (data == NULL || data->d_buf == NULL)
        {
          if (is_ours)
            return set_invalid (path, error, "its section lies beyond the end of the file");
          continue;
        }
      if (header.sh_type == SHT_NOTE && !take_notes (reading, data, is_ours, path, error))
        return false;
      if (header.sh_type == SHT_DYNSYM)
        take_symbols (reading, elf, &header, data);
      if (header.sh_type == SHT_DYNAMIC)
        take_dynamic (reading, &header, data);
    }
  return true;
}

static void
replace_list (char ***texts, GPtrArray *list)
{
  g_strfreev (*texts);
  g_ptr_array_add (list, NULL);
  *texts = (char **) g_ptr_array_free (list, FALSE);
}

char *
xp_note_name_of_file (const char *path)
{
  char *name = g_path_get_basename (path);
  if (g_str_has_suffix (name, ".so"))
    name[strlen (name) - strlen (".so")] = '\0';
  const char *level = xp_cpu_level_of_file (path);
  if (level != NULL)
    name[strlen (name) - strlen (level) - 1] = '\0';
  return name;
}

/* Whether all that the linker would map is in the file; if not, reading it would kill the process.
 * And whether its table of sections is, which lies last and leads to the note. */
static bool
is_whole (Elf *elf, const GElf_Ehdr *file, uint64_t size)
{
  size_t n;
  if (file->e_shoff > size || (uint64_t) file->e_shnum * file->e_shentsize > size - file->e_shoff)
    return false;
  if (elf_getphdrnum (elf, &n) != 0)
    return false;
  for (size_t i = 0; i < n; i++)
    {
      GElf_Phdr header;
      if (gelf_getphdr (elf, (int) i, &header) == NULL
          || (header.p_type == PT_LOAD
              && (header.p_offset > size || header.p_filesz > size - header.p_offset)))
        return false;
    }
  return true;
}

static bool
read_elf (Reading *reading, Elf *elf, uint64_t size, const char *path, GError **error)
{
  GElf_Ehdr header;
  if (elf == NULL || elf_kind (elf) != ELF_K_ELF || gelf_getehdr (elf, &header) == NULL
      || (header.e_type != ET_DYN && (header.e_type != ET_EXEC || reading->linked == NULL)))
    {
      xp_error_set (error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = (char *) path },
                    "%s is no plugin: it is not a shared object", path);
      return false;
    }
  const char *machine = NULL;
  for (unsigned i = 0; i < XP_LENGTH (machines); i++)
    if (machines[i].number == header.e_machine)
      machine = machines[i].name;
  g_free (reading->info->machine);
  /* Of the 64-bit machines some run objects of 32 bits too, which we are none of. */
  bool is_narrow = gelf_getclass (elf) == ELFCLASS32 && header.e_machine != EM_386
                   && header.e_machine != EM_ARM;
  reading->info->machine = machine != NULL
                               ? g_strconcat (machine, is_narrow ? ", 32 bits" : "", NULL)
                               : g_strdup_printf ("machine %u", header.e_machine);
  if (!is_whole (elf, &header, size))
    {
      xp_error_set (error, XP_ERROR_FILE_FORMAT, &(XpErrorDetails){ .plugin = (char *) path },
                    "%s is no plugin: it is cut short, a part of it ends beyond its %" PRIu64
                    " bytes; build or copy it again",
                    path, size);
      return false;
    }
  if (!take_sections (reading, elf, path, error))
    return false;
  if (!reading->has_note)
    {
      xp_error_set (
          error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = (char *) path },
          "%s is no plugin: it is a shared object without a Crosspoint note; build it with "
          "<crosspoint.h> and one of the XP_LIBRARY macros",
          path);
      return false;
    }
  return true;
}

XpPluginInfo *
xp_note_read (int fd, const char *path, const XpLinkedPlugin *linked, GError **error)
{
  if (linked == NULL && xp_schemas_are_in (path))
    return xp_schemas_read_note (fd, path, error);
  XpPluginInfo *info = xp_plugin_info_new (NULL, path);
  Reading reading = { .info = info,
                      .linked = linked,
                      .requires_ = g_ptr_array_new (),
                      .defines = g_ptr_array_new (),
                      .fills = g_ptr_array_new (),
                      .kernels = g_ptr_array_new (),
                      .cpu = g_ptr_array_new () };
  struct stat status = { 0 };
  elf_version (EV_CURRENT);
  Elf *elf = fstat (fd, &status) == 0 ? elf_begin (fd, ELF_C_READ, NULL) : NULL;
  bool good = read_elf (&reading, elf, (uint64_t) status.st_size, path, error);
  if (elf != NULL)
    elf_end (elf);
  replace_list (&info->requires_, reading.requires_);
  replace_list (&info->defines, reading.defines);
  replace_list (&info->fills, reading.fills);
  replace_list (&info->kernels, reading.kernels);
  replace_list (&info->cpu, reading.cpu);
  if (linked != NULL)
    {
      g_free (info->name);
      info->name = g_strdup (linked->name);
      g_free (info->resident);
      info->resident = g_strdup_printf ("it is linked into %s", path);
      info->has_core = FALSE;
    }
  if (info->name == NULL)
    info->name = xp_note_name_of_file (path);
  if (info->resident == NULL && reading.starts_threads != NULL && !reading.has_fini)
    info->resident = g_strdup_printf ("it imports %s, and has no xp_plugin_fini() to end its "
                                      "threads",
                                      reading.starts_threads);
  g_free (reading.starts_threads);
  if (good)
    return info;
  xp_plugin_info_free (info);
  return NULL;
}

gboolean
xp_file_is_trusted (const char *path, const struct stat *status, GError **error)
{
  if ((status->st_mode & S_IWOTH) == 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_UNSAFE_FILE, &(XpErrorDetails){ .plugin = (char *) path },
                "%s is writable by everyone, so its code is not trusted: chmod o-w it", path);
  return FALSE;
}

XpPluginInfo *
xp_note_read_file (const char *path, const XpLinkedPlugin *linked, GError **error)
{
  struct stat status;
  g_autoptr (GError) reason = NULL;
  XpPluginInfo *info = xp_notes_read (path, linked, &status, error);
  /* What is linked into the program is the program's own. */
  if (info != NULL
      && !((linked != NULL || xp_file_is_trusted (path, &status, &reason))
           && xp_note_check (info, &reason)))
    xp_plugin_info_reject (info, reason);
  return info;
}

XpPluginInfo *
xp_plugin_info_read (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  return xp_note_read_file (path, NULL, error);
}
