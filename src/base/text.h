/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Texts on their way out of our own memory. */
#pragma once

#include <glib.h>

/* A copy that every D-Bus peer and journal takes: valid UTF-8, with U+FFFD where it was not, and for each
 * noncharacter. libsystemd refuses those in messages (its utf8.c), and json-gate.h lets one stand for an
 * escaped NUL. */
char *sbx_text_plain (const char *text);

/* A copy on one line for people: as above, and each control character is a blank. */
char *sbx_text_one_line (const char *text);

/* A copy for a terminal: as the first, and each control character but line ends and tabs is U+FFFD, since a
 * guest could move the cursor, set the title or type an answer with them. */
char *sbx_text_terminal (const char *text);

/* A short copy that may stand between quotation marks in a question that a person answers: each character
 * that is not printed, turns the direction of writing or is a quotation mark is "?", and what is longer than
 * 64 ends in "…". */
char *sbx_text_shown (const char *text);
