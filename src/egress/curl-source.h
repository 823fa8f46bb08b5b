/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A curl multi handle as a GSource: its sockets are watched and its timer kept by the main loop. */
#pragma once

#include <curl/curl.h>
#include <glib.h>

/* Called from the loop for each easy handle that has ended and has left the multi handle. It may add others.
 */
typedef void (*SbxCurlDone) (CURL *easy, CURLcode code, gpointer user_data);

/* A new source on multi, attached to the thread-default context. Destroy it with
 * g_source_destroy() and g_source_unref() once multi is cleaned up, which still calls back. */
GSource *sbx_curl_source_new (CURLM *multi, SbxCurlDone done, gpointer user_data);
