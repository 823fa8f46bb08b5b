/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* Every name that somebody outside this project can see or has to configure. Changing one is a breaking
 * change. */
#pragma once

#define SBX_BUS_NAME          "org.roundtable.Sandbox1"
#define SBX_OBJECT_PATH       "/org/roundtable/Sandbox1"
#define SBX_MANAGER_INTERFACE SBX_BUS_NAME ".Manager"
#define SBX_CHANNEL_INTERFACE SBX_BUS_NAME ".Channel"
#define SBX_TURN_INTERFACE    SBX_BUS_NAME ".Turn"
#define SBX_BUS_ERROR_PREFIX  SBX_BUS_NAME ".Error."

#define SBX_DAEMON_USER "sandboxd"
#define SBX_EGRESS_USER "sandbox-egress"
#define SBX_WORKER_USER "sandbox-worker"
/* Rights on the private socket. */
#define SBX_BOTS_GROUP      "sandbox-bots"
#define SBX_OPERATORS_GROUP "sandbox-operators"

#define SBX_TURN_SLICE "sandboxd-turn.slice"
/* printf format; the argument is the turn's id. */
#define SBX_BROKER_SCOPE_FORMAT "sandboxd-turn-%s-broker.scope"
#define SBX_BROKER_SCOPE_GLOB   "sandboxd-turn-*-broker.scope"

#define SBX_STATE_DIR       "/var/lib/roundtable-sandbox"
#define SBX_RUN_DIR         "/run/roundtable-sandbox"
#define SBX_TURN_DIR_PREFIX "turn-"
#define SBX_BROKER_SOCKET   "broker.sock"
/* Sockets of socket units lie beside sandboxd's run directory: systemd empties that one at each restart. */
#define SBX_EGRESS_SOCKET    "/run/sandbox-egress.sock"
#define SBX_PRIVATE_SOCKET   "/run/sandboxd.sock"
#define SBX_TOOL_SOCKETS_DIR "/run/sandbox-tools"
#define SBX_DOCKER_SOCKET    "/run/docker.sock"
#define SBX_DOCKER_API       "/v1.41"

#define SBX_WORKER_IMAGE     "roundtable-sandbox-worker:latest"
#define SBX_CONTAINER_PREFIX "roundtable-sandbox-"
/* Container and image labels. */
#define SBX_LABEL_INSTALLATION "org.roundtable.sandbox.installation"
#define SBX_LABEL_CHANNEL      "org.roundtable.sandbox.channel" /* 64 hex digits: SHA-256 of the key */
#define SBX_LABEL_TURN         "org.roundtable.sandbox.turn"
#define SBX_LABEL_WORKER       "org.roundtable.sandbox.worker" /* on our own image: its version */

/* What the guest's side sees (doc/protocol.md 3). */
#define SBX_DUMMY_KEY        "sandbox-dummy-key"
#define SBX_WORKER_SOCKET    "/broker/broker.sock"
#define SBX_WORKER_WORKSPACE "/workspace"
#define SBX_WORKER_PROGRAM   "/worker" /* in our own image */
