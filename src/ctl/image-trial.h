/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The self-test of a worker's image (doc/worker.md): turns in containers such as a real turn gets, against
 * the judge (image-judge.h) in place of a broker. No model, key, channel or sandboxd takes part. */
#pragma once

#include "config/config.h"
#include "container/engine.h"
#include "ctl/explain.h"

/* Prints a line for each rule that was tried, and says what is broken. Needs root, since the directories that
 * the container sees must belong to the worker's user. */
SbxExit sbx_image_trial (SbxEngine *engine, const SbxConfig *config, const char *image);
