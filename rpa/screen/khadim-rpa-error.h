/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * KhadimRpaError:
 * @KHADIM_RPA_ERROR_NOT_FOUND: what was asked for is not there
 * @KHADIM_RPA_ERROR_INVALID: an argument is not well formed; the text names the place
 * @KHADIM_RPA_ERROR_LIMIT: a named limit was reached
 * @KHADIM_RPA_ERROR_UNSUPPORTED: this display, window or toolkit cannot do it; the text says
 *   what would
 * @KHADIM_RPA_ERROR_LOST: the connection to the display or a bus is gone
 * @KHADIM_RPA_ERROR_TIMEOUT: it did not happen in time
 * @KHADIM_RPA_ERROR_FOCUS_LOST: another window took the keyboard
 * @KHADIM_RPA_ERROR_BUSY: somebody else holds it
 * @KHADIM_RPA_ERROR_HUNG: the program does not answer
 * @KHADIM_RPA_ERROR_ENDED: the program is gone
 * @KHADIM_RPA_ERROR_CANCELLED: stopped by a person
 * @KHADIM_RPA_ERROR_FAILED: none of the others
 *
 * What a caller of the screen domain can act on.
 */
typedef enum {
  KHADIM_RPA_ERROR_NOT_FOUND,
  KHADIM_RPA_ERROR_INVALID,
  KHADIM_RPA_ERROR_LIMIT,
  KHADIM_RPA_ERROR_UNSUPPORTED,
  KHADIM_RPA_ERROR_LOST,
  KHADIM_RPA_ERROR_TIMEOUT,
  KHADIM_RPA_ERROR_FOCUS_LOST,
  KHADIM_RPA_ERROR_BUSY,
  KHADIM_RPA_ERROR_HUNG,
  KHADIM_RPA_ERROR_ENDED,
  KHADIM_RPA_ERROR_CANCELLED,
  KHADIM_RPA_ERROR_FAILED,
} KhadimRpaError;

#define KHADIM_RPA_ERROR (khadim_rpa_error_quark ())
GQuark khadim_rpa_error_quark (void);

G_END_DECLS
