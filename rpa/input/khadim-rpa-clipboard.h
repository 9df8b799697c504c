/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/input/khadim-rpa-input.h"

G_BEGIN_DECLS

#define KHADIM_RPA_CLIPBOARD_MAX_BYTES (64 * 1024 * 1024)

#define KHADIM_RPA_TYPE_CLIPBOARD (khadim_rpa_clipboard_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaClipboard, khadim_rpa_clipboard, KHADIM_RPA, CLIPBOARD, GObject)

/**
 * KhadimRpaClipboardKind:
 * @KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD: what was copied
 * @KHADIM_RPA_CLIPBOARD_KIND_PRIMARY: what is selected
 *
 * A selection of the display.
 */
typedef enum {
  KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
  KHADIM_RPA_CLIPBOARD_KIND_PRIMARY,
} KhadimRpaClipboardKind;

KhadimRpaClipboard *khadim_rpa_clipboard_new      (KhadimRpaDisplay        *display,
                                                   GError                 **error);
char               *khadim_rpa_clipboard_get_text (KhadimRpaClipboard      *self,
                                                   KhadimRpaClipboardKind   kind,
                                                   guint                    timeout_ms,
                                                   GCancellable            *cancellable,
                                                   GError                 **error);
gboolean            khadim_rpa_clipboard_set_text (KhadimRpaClipboard      *self,
                                                   KhadimRpaClipboardKind   kind,
                                                   const char              *text,
                                                   GError                 **error);
gboolean            khadim_rpa_clipboard_paste    (KhadimRpaClipboard      *self,
                                                   KhadimRpaInput          *input,
                                                   const char              *text,
                                                   guint32                  window,
                                                   gboolean                 restore,
                                                   guint                    timeout_ms,
                                                   GCancellable            *cancellable,
                                                   GError                 **error);

G_END_DECLS
