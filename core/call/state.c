/* SPDX-License-Identifier: MIT
 *
 * state.c: all that a thread has set for its calls, taken and given as one, and inference mode.
 */
#include "call/dispatch.h"
#include "value/storage.h"

#include <crosspoint/guard.h>

XpThreadState
xp_thread_state_capture (void)
{
  return (XpThreadState){ .keys = xp_thread_keys (),
                          .inference_mode = xp_inference_mode (),
                          .preferences = xp_thread_preferences () };
}

XpThreadState
xp_thread_state_apply (const XpThreadState *state)
{
  XpThreadState before = xp_thread_state_capture ();
  g_return_val_if_fail (state != NULL, before);
  xp_thread_set_keys (state->keys);
  xp_set_inference_mode (state->inference_mode != 0);
  xp_thread_set_preferences (state->preferences);
  return before;
}

bool
xp_thread_is_inference_mode (void)
{
  return xp_inference_mode ();
}

XpThreadState
xp_thread_set_inference_mode_ (bool on)
{
  XpThreadState before = xp_thread_state_capture ();
  XpThreadKeys keys = before.keys;
  uint64_t view = XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView);
  if (on)
    {
      keys.included.functionality &= ~view;
      keys.excluded.functionality |= XP_AUTOGRAD_MASK;
    }
  else
    {
      keys.included.functionality |= view;
      keys.excluded.functionality &= ~XP_AUTOGRAD_MASK;
    }
  xp_thread_set_keys (keys);
  xp_set_inference_mode (on);
  return before;
}
