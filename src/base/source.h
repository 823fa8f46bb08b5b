/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Sources of the main loop as members of the object that they call. */
#pragma once

#include <glib.h>

/* Takes *source out of its context, gives up the owner's reference and sets it to NULL: its callback does not
 * run any more. Safe from inside that callback too. *source may be NULL. */
void sbx_source_clear (GSource **source);
