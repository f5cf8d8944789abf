/* SPDX-License-Identifier: MIT
 *
 * scan.c: what plugins bring, from the cache or from the helper; and what is quarantined.
 */
#include "plugin/cache.h"
#include "plugin/plugin.h"
#include "plugin/scanner.h"
#include "plugin/settings.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#if defined(__x86_64__)
#  include <cpuid.h>
#else
#  include <sys/auxv.h>
#endif

enum
{
  MOST_REQUIREMENTS = 8 /* one inside the other, that a stamp looks at */
};

/* --- Stamps: everything that a finding depends on. --- */

static bool
append_build_id (GString *text, const guint8 *notes, gsize n)
{
  for (gsize at = 0; at + sizeof (ElfW (Nhdr)) <= n;)
    {
      const ElfW (Nhdr) *note = (const void *) (notes + at);
      gsize name = at + sizeof *note, bytes = name + ((note->n_namesz + 3) & ~3u);
      gsize next = bytes + ((note->n_descsz + 3) & ~3u);
      if (next > n)
        return false;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4
          && memcmp (notes + name, "GNU", 4) == 0)
        {
          for (gsize i = 0; i < note->n_descsz; i++)
            g_string_append_printf (text, "%02x", notes[bytes + i]);
          return true;
        }
      at = next;
    }
  return false;
}

/* The build-id of the library that this function lies in. */
static int
take_core (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *text)
{
  const guint8 *self = (const guint8 *) (void *) take_core;
  bool is_core = false;
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];
      const guint8 *start = (const guint8 *) info->dlpi_addr + header->p_vaddr;
      is_core |= header->p_type == PT_LOAD && self >= start && self < start + header->p_memsz;
    }
  for (unsigned i = 0; is_core && i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];
      if (header->p_type == PT_NOTE
          && append_build_id (text, (const guint8 *) info->dlpi_addr + header->p_vaddr,
                              header->p_memsz))
        break;
    }
  return is_core;
}

/* What the processor offers; the numbers that tell cores apart left out. */
static void
append_cpu (GString *text)
{
#if defined(__x86_64__)
  unsigned a, b, c, d, low = 0, high = 0;
  if (__get_cpuid (1, &a, &b, &c, &d) == 0)
    return;
  if ((c & bit_OSXSAVE) != 0)
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  g_string_append_printf (text, " %x.%x.%x.%x%x", a, c, d, high, low);
  if (__get_cpuid_count (7, 0, &a, &b, &c, &d) != 0)
    g_string_append_printf (text, ".%x.%x.%x", b, c, d);
#else
  g_string_append_printf (text, " %lx.%lx", getauxval (AT_HWCAP), getauxval (AT_HWCAP2));
#endif
}

static char *
core_stamp (void)
{
  static char *stamp;
  if (g_once_init_enter (&stamp))
    {
      GString *text = g_string_new (xp_version ());
      g_string_append_c (text, ' ');
      xp_objects_visit (take_core, text);
      append_cpu (text);
      g_once_init_leave (&stamp, g_string_free (text, FALSE));
    }
  return stamp;
}

static void
append_file (GString *text, const XpPluginInfo *note, unsigned depth)
{
  struct stat status;
  if (stat (note->path, &status) != 0)
    status = (struct stat){ 0 };
  g_string_append_printf (text, "\n%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT ".%09ld %s",
                          note->path, (gint64) status.st_size, (gint64) status.st_mtim.tv_sec,
                          status.st_mtim.tv_nsec, note->build_id != NULL ? note->build_id : "-");
  for (unsigned i = 0; depth < MOST_REQUIREMENTS && note->requires_[i] != NULL; i++)
    {
      g_autofree char *path = xp_plugin_locate (note->requires_[i], NULL);
      g_autoptr (XpPluginInfo) needed = path != NULL ? xp_plugin_info_read (path, NULL) : NULL;
      if (needed != NULL)
        append_file (text, needed, depth + 1);
      else
        g_string_append_printf (text, "\n%s -", note->requires_[i]);
    }
}

static char *
stamp_of (const XpPluginInfo *note)
{
  GString *text = g_string_new (core_stamp ());
  g_autofree char *without = xp_setting_get ("cpu-features");
  g_string_append_printf (text, " %s", without);
  append_file (text, note, 0);
  char *stamp = g_utf8_make_valid (text->str, (gssize) text->len);
  g_string_free (text, TRUE);
  return stamp;
}

/* --- What is known. --- */

static XpFinding *
known_finding (const XpPluginInfo *note, bool whole)
{
  XpFinding *finding = note->path != NULL ? xp_cache_get (note->path, whole) : NULL;
  g_autofree char *stamp = finding != NULL ? stamp_of (note) : NULL;
  if (finding == NULL || strcmp (finding->stamp, stamp) == 0)
    return finding;
  xp_finding_free (finding);
  return NULL;
}

/* What a user types to mean the file. */
static char *
name_for_user (const XpPluginInfo *note)
{
  g_autofree char *path = xp_plugin_locate (note->name, NULL);
  return g_strdup (g_strcmp0 (path, note->path) == 0 ? note->name : note->path);
}

static char *
reason_of (const XpFinding *finding, const XpPluginInfo *note)
{
  if (finding->state != XP_PLUGIN_QUARANTINED)
    {
      /* Without the name and state that stand beside it in every list. */
      g_autofree char *known = g_strdup_printf ("%s: %s: ", note->name,
                                                xp_plugin_state_name (finding->state));
      bool says_so = g_str_has_prefix (finding->reason, known);
      const char *reason = finding->reason + (says_so ? strlen (known) : 0);
      return reason[0] != '\0' ? g_strdup (reason) : NULL;
    }
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local (finding->time);
  g_autofree char *when = time != NULL ? g_date_time_format (time, "%F %T") : g_strdup ("?");
  g_autofree char *name = name_for_user (note);
  return g_strdup_printf ("%s (scanned %s); `crosspoint retry %s` tries it again", finding->reason,
                          when, name);
}

/* The texts of codes are static. */
static const char *
error_name (const char *name)
{
  for (unsigned i = 0; i < XP_N_ERRORS; i++)
    if (strcmp (xp_error_name ((XpError) i), name) == 0)
      return xp_error_name ((XpError) i);
  return NULL;
}

static void
take (XpPluginInfo *info, const XpFinding *finding)
{
  info->state = finding->state;
  info->error = error_name (finding->error);
  info->scanned = finding->time;
  info->n_rows = finding->coverage->n_rows;
  info->n_cells = finding->coverage->n_cells;
  g_free (info->reason);
  info->reason = reason_of (finding, info);
}

void
xp_scan_take_known (XpPluginInfo *info)
{
  if (info->state != XP_PLUGIN_AVAILABLE)
    return;
  g_autoptr (XpFinding) finding = known_finding (info, true);
  if (finding != NULL)
    take (info, finding);
}

XpCoverage *
xp_scan_coverage (const XpPluginInfo *note)
{
  g_autoptr (XpFinding) finding = known_finding (note, true);
  return finding != NULL && finding->state == XP_PLUGIN_AVAILABLE
             ? g_steal_pointer (&finding->coverage)
             : NULL;
}

XpCoverage *
xp_plugin_coverage_read (const char *path)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autoptr (XpPluginInfo) note = xp_plugin_info_read (absolute, NULL);
  return note != NULL && note->state == XP_PLUGIN_AVAILABLE ? xp_scan_coverage (note) : NULL;
}

gboolean
xp_scan_check (const XpPluginInfo *note, GError **error)
{
  g_autoptr (XpFinding) finding = known_finding (note, false);
  if (finding == NULL || finding->state != XP_PLUGIN_QUARANTINED
      || xp_setting_get_number ("load-quarantined") != 0)
    return TRUE;
  g_autofree char *reason = reason_of (finding, note);
  xp_error_set (error, XP_ERROR_QUARANTINED, &(XpErrorDetails){ .plugin = note->name },
                "%s: quarantined: %s", note->name, reason);
  return FALSE;
}

/* --- Scanning. --- */

typedef struct
{
  XpPluginInfo *info;
  const char *helper;
  double seconds;
  char *stamp; /* of before, so that a file which is changed meanwhile is scanned again */
  XpFinding *finding;
  bool is_final;
  GError *error;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;
  g_free (job->stamp);
  xp_finding_free (job->finding);
  g_clear_error (&job->error);
  g_free (job);
}

typedef struct
{
  GPtrArray *jobs;
  unsigned next; /* atomic */
} Queue;

static void *
work (void *data)
{
  Queue *queue = data;
  unsigned i;
  while ((i = __atomic_fetch_add (&queue->next, 1, __ATOMIC_RELAXED)) < queue->jobs->len)
    {
      Job *job = queue->jobs->pdata[i];
      job->finding = xp_scanner_run (job->helper, job->info, job->seconds, &job->is_final,
                                     &job->error);
    }
  return NULL;
}

/* On threads of their own, which signals of the program are no business of. */
static void
run_jobs (GPtrArray *jobs)
{
  Queue queue = { jobs, 0 };
  g_autoptr (GPtrArray) threads = g_ptr_array_new ();
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < MIN (jobs->len, g_get_num_processors ()); i++)
    {
      GThread *thread = g_thread_try_new ("crosspoint-scan", work, &queue, NULL);
      if (thread != NULL)
        g_ptr_array_add (threads, thread);
    }
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (threads->len == 0)
    work (&queue);
  for (unsigned i = 0; i < threads->len; i++)
    g_thread_join (threads->pdata[i]);
}

/* Takes what the jobs have found, and keeps it. */
static gboolean
take_jobs (GPtrArray *jobs, GError **error)
{
  for (unsigned i = 0; i < jobs->len; i++)
    {
      Job *job = jobs->pdata[i];
      if (job->finding == NULL)
        {
          g_propagate_error (error, g_steal_pointer (&job->error));
          return FALSE;
        }
      g_free (job->finding->stamp);
      job->finding->stamp = g_steal_pointer (&job->stamp);
      if (job->is_final)
        xp_cache_put (job->finding);
      take (job->info, job->finding);
    }
  return TRUE;
}

/* What is known of the file; or, if that is not enough, a job. */
static XpPluginInfo *
begin_file (const char *path, bool by_name, XpScanFlags flags, GPtrArray *jobs)
{
  struct stat status;
  XpPlugin *loaded = stat (path, &status) == 0 ? xp_plugin_find_file (&status) : NULL;
  if (loaded != NULL)
    return xp_plugin_info (loaded);
  XpPluginInfo *info = xp_plugin_info_of_file (path, by_name);
  if (info->state != XP_PLUGIN_AVAILABLE)
    return info;
  g_autoptr (XpFinding) finding = flags == XP_SCAN_NEW ? known_finding (info, true) : NULL;
  if (finding != NULL
      && (finding->state == XP_PLUGIN_AVAILABLE || finding->state == XP_PLUGIN_QUARANTINED))
    {
      take (info, finding);
      return info;
    }
  Job *job = g_new0 (Job, 1);
  job->info = info;
  job->stamp = stamp_of (info);
  g_ptr_array_add (jobs, job);
  return info;
}

static gboolean
run_and_take (GPtrArray *jobs, GError **error)
{
  g_autofree char *helper = jobs->len > 0 ? xp_scanner_locate (error) : NULL;
  if (helper == NULL)
    return jobs->len == 0;
  double seconds = xp_setting_get_number ("scan-timeout");
  for (unsigned i = 0; i < jobs->len; i++)
    {
      Job *job = jobs->pdata[i];
      job->helper = helper;
      job->seconds = seconds;
    }
  run_jobs (jobs);
  return take_jobs (jobs, error);
}

XpPluginInfo **
xp_plugins_scan (const char *const *files, XpScanFlags flags, unsigned *n_plugins, GError **error)
{
  g_return_val_if_fail (n_plugins != NULL, NULL);
  if (xp_load_is_nested (error))
    return NULL;
  g_autoptr (GPtrArray) found = files == NULL ? xp_search_all () : NULL;
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func (job_free);
  GPtrArray *infos = g_ptr_array_new_with_free_func ((GDestroyNotify) xp_plugin_info_free);
  for (unsigned i = 0; found != NULL && i < found->len; i++)
    g_ptr_array_add (infos, begin_file (found->pdata[i], true, flags, jobs));
  for (unsigned i = 0; files != NULL && files[i] != NULL; i++)
    {
      g_autofree char *path = g_canonicalize_filename (files[i], NULL);
      g_ptr_array_add (infos, begin_file (path, false, flags, jobs));
    }
  if (!run_and_take (jobs, error))
    {
      g_ptr_array_unref (infos);
      return NULL;
    }
  if (files == NULL)
    xp_cache_sweep ();
  *n_plugins = infos->len;
  g_ptr_array_add (infos, NULL); /* so that no files are no error */
  g_ptr_array_set_free_func (infos, NULL);
  return (XpPluginInfo **) g_ptr_array_free (infos, FALSE);
}
