/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The parts of `sandboxctl check`. Each looks at one thing and adds what it found. Blocking, each within
 * seconds; nothing on the host is changed but by sbx_check_turn(). */
#pragma once

#include "config/config.h"
#include "ctl/check-list.h"
#include "ctl/ctl.h"

/* The configuration; NULL where it is not right, which was added. */
SbxConfig *sbx_check_config (SbxCheckList *list);

/* Users and groups, keys and endpoints, tools, disk. */
void sbx_check_users (SbxCheckList *list);
void sbx_check_keys (SbxCheckList *list, const SbxConfig *config);
void sbx_check_endpoints (SbxCheckList *list, const SbxConfig *config);
void sbx_check_tools (SbxCheckList *list);
void sbx_check_disk (SbxCheckList *list, const SbxConfig *config);

/* Docker: reachable, version, cgroup driver, runc, AppArmor; then the worker's image. */
void sbx_check_docker (SbxCheckList *list, const SbxConfig *config);

/* sandboxd on the bus, its right to make scopes, the units; FALSE where sandboxd does not answer. */
gboolean sbx_check_service (SbxCheckList *list, SbxCtl *ctl);

/* One turn of a guest in a channel of its own. */
void sbx_check_turn (SbxCheckList *list, SbxCtl *ctl);
