/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* The journal's message ids: what an operator can filter by and act on. Each has an entry in the message
 * catalog; a test holds the two lists together. An id is never reused for something else.
 */
#pragma once

/* A service has read its configuration and takes work. */
#define SBX_LOG_ID_SERVICE_READY "72946f2b0b69f265ff9e2ae0f14b58b0"
/* It takes no more and ends what runs. */
#define SBX_LOG_ID_SERVICE_STOPPING "1d4b05b8947cf27a5c95d96c840a3430"
/* A configuration was not taken; the old one, if any, stays in force. */
#define SBX_LOG_ID_CONFIG_REJECTED "448dfe91420bc4ed055f86be40ffcf4f"
/* A new configuration is in force. */
#define SBX_LOG_ID_CONFIG_LOADED "f98773b624367cb9354fe78617bffce7"
/* Someone turned a channel on or off. */
#define SBX_LOG_ID_CHANNEL_MODE_CHANGED "2f4bbc264d94ab3c6cef18731e72b807"
/* A turn was taken, to run now or when its place in the queue comes. */
#define SBX_LOG_ID_TURN_ACCEPTED "d77a9d27edcf0e9112b82a4c35451bc4"
/* Its worker has been given the turn. */
#define SBX_LOG_ID_TURN_STARTED "3b7c822994f45243729a4e000d0bfd4e"
/* For a channel in use the next turn's sandbox was made ahead. */
#define SBX_LOG_ID_PREPARED_READY "496428dcce476bbbd024b6aa4b116421"
/* One that waited was thrown away unused, for SANDBOX_REASON=. */
#define SBX_LOG_ID_PREPARED_DROPPED "dc218432175457fa4a298c8dcd886a68"
/* It ended, with SANDBOX_OUTCOME= and, unless that is "replied", SANDBOX_REASON=. */
#define SBX_LOG_ID_TURN_FINISHED "b1fc4e67be3649bb3d1630953ba1c36f"
/* It should have ended long ago, and was made to. */
#define SBX_LOG_ID_TURN_STUCK "e97a52db0c8f4d6c9a1be0f4d3526a78"
/* A turn was not taken. */
#define SBX_LOG_ID_TURN_REFUSED "cedb8cbcac442c38b3843b9fec4352ad"
/* Audit: a call of a guest's worker was made. */
#define SBX_LOG_ID_CALL "0ac9577d8527dfcc22fae740566eb6cd"
/* Audit: one was refused. */
#define SBX_LOG_ID_CALL_REFUSED "c895412a9698fc00820c3a1add63935d"
/* Something of a turn could not be removed; it is tried again. */
#define SBX_LOG_ID_CLEANUP_FAILED "1e0ad7b9ad59ab63d6fb11179130d4e0"
/* What could not be removed before is gone. */
#define SBX_LOG_ID_CLEANUP_DONE "a713280ece7f8f112ad5d38717aef88a"
/* What an earlier life left behind was removed. */
#define SBX_LOG_ID_SWEEP_REMOVED "3e156ff251a4a47550686783d8a71ae8"
/* Dockerd does not end a container. */
#define SBX_LOG_ID_CONTAINER_STUCK "c6886f1e4bb8f9418ae64da1fb6ba715"
/* A broken memory or history file was set aside. */
#define SBX_LOG_ID_STORE_SET_ASIDE "626e5356537496e11525758903295c8b"
/* All that was stored of a channel was deleted, on demand. */
#define SBX_LOG_ID_CHANNEL_PURGED "5d0f6c1b7a3e4c9f8b21e6d4907a53cc"
/* A workspace is not what sandboxd made. */
#define SBX_LOG_ID_WORKSPACE_UNSAFE "56a9b97a944d11fc84884e3dc8305c3c"
/* A worker used more memory than it may. */
#define SBX_LOG_ID_WORKER_OOM "ae03d79dd8b995cc826bd34241fc645b"
/* A key file is missing, empty or malformed. */
#define SBX_LOG_ID_KEY_UNREADABLE "688bf20148c421cfa3e216a3fea8dfeb"
/* An answer with a live key in it was kept back. */
#define SBX_LOG_ID_KEY_REFLECTED "3b45d1c1e296256a09d8c89ff1b1c626"
/* An endpoint failed a call, after the last try. */
#define SBX_LOG_ID_UPSTREAM_FAILED "0517c49d6b3a93510668b19abb117fd9"
/* The connection to the system bus is lost. */
#define SBX_LOG_ID_BUS_LOST "0509da6617efa82d42c30980b293f570"
/* It is there again. */
#define SBX_LOG_ID_BUS_BACK "39d146e6e463d38d00c762b36613000f"
/* A turn's broker ended early or broke the rules. */
#define SBX_LOG_ID_BROKER_FAILED "93a7246ed8ecc218af9e89e6ff663d34"
/* A host tool failed a call. */
#define SBX_LOG_ID_TOOL_FAILED "a6f94a5feb1e07d39fe9cb97e3e91aad"
/* A channel's history was made shorter. */
#define SBX_LOG_ID_COMPACTION "c8b3ed93fd12d23d66294fe17656fcdb"
/* The operator's way to shorten a history did not work, so another was taken. */
#define SBX_LOG_ID_COMPACTION_FALLBACK "3eb4fad42df92397dc0f452f3b19a149"
