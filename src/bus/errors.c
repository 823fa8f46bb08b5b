/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "bus/errors.h"

#include <errno.h>
#include <gio/gio.h>

#include "base/names.h"

G_DEFINE_QUARK (sbx - bus - error - quark, sbx_bus_error)
G_DEFINE_QUARK (sbx - failure - error - quark, sbx_failure_error)

static const char *const names[] = {
  [SBX_BUS_ERROR_NO_SUCH_TURN] = SBX_BUS_ERROR_PREFIX "NoSuchTurn",
  [SBX_BUS_ERROR_NOT_SANDBOXED] = SBX_BUS_ERROR_PREFIX "NotSandboxed",
  [SBX_BUS_ERROR_QUEUE_FULL] = SBX_BUS_ERROR_PREFIX "QueueFull",
  [SBX_BUS_ERROR_TOO_BUSY] = SBX_BUS_ERROR_PREFIX "TooBusy",
  [SBX_BUS_ERROR_INVALID_CHANNEL] = SBX_BUS_ERROR_PREFIX "InvalidChannel",
  [SBX_BUS_ERROR_INVALID_SPEAKER] = SBX_BUS_ERROR_PREFIX "InvalidSpeaker",
  [SBX_BUS_ERROR_INVALID_PRINCIPAL] = SBX_BUS_ERROR_PREFIX "InvalidPrincipal",
  [SBX_BUS_ERROR_TEXT_TOO_LONG] = SBX_BUS_ERROR_PREFIX "TextTooLong",
  [SBX_BUS_ERROR_INVALID_OPTION] = SBX_BUS_ERROR_PREFIX "InvalidOption",
  [SBX_BUS_ERROR_INVALID_MODE] = SBX_BUS_ERROR_PREFIX "InvalidMode",
  [SBX_BUS_ERROR_SHUTTING_DOWN] = SBX_BUS_ERROR_PREFIX "ShuttingDown",
  [SBX_BUS_ERROR_STATE_NOT_WRITTEN] = SBX_BUS_ERROR_PREFIX "StateNotWritten",
  [SBX_BUS_ERROR_RATE_LIMITED] = SBX_BUS_ERROR_PREFIX "RateLimited",
  [SBX_BUS_ERROR_CONFIG_REJECTED] = SBX_BUS_ERROR_PREFIX "ConfigRejected",
};
G_STATIC_ASSERT (G_N_ELEMENTS (names) == _SBX_BUS_ERROR_LAST + 1);

static const char *const failure_names[] = {
  [SBX_FAILURE_IMAGE_MISSING] = SBX_BUS_ERROR_PREFIX "ImageMissing",
  [SBX_FAILURE_DOCKER_DOWN] = SBX_BUS_ERROR_PREFIX "DockerDown",
  [SBX_FAILURE_DOCKER_REFUSED] = SBX_BUS_ERROR_PREFIX "DockerRefused",
  [SBX_FAILURE_SCOPE_REFUSED] = SBX_BUS_ERROR_PREFIX "ScopeRefused",
  [SBX_FAILURE_BROKER_FAILED] = SBX_BUS_ERROR_PREFIX "BrokerFailed",
  [SBX_FAILURE_EGRESS_DOWN] = SBX_BUS_ERROR_PREFIX "EgressDown",
  [SBX_FAILURE_KEY_MISSING] = SBX_BUS_ERROR_PREFIX "KeyMissing",
  [SBX_FAILURE_MODEL_REFUSED] = SBX_BUS_ERROR_PREFIX "ModelRefused",
  [SBX_FAILURE_MODEL_UNREACHABLE] = SBX_BUS_ERROR_PREFIX "ModelUnreachable",
  [SBX_FAILURE_MODEL_ANSWER] = SBX_BUS_ERROR_PREFIX "ModelAnswer",
  [SBX_FAILURE_MODEL_TIMEOUT] = SBX_BUS_ERROR_PREFIX "ModelTimeout",
  [SBX_FAILURE_RATE_LIMITED] = SBX_BUS_ERROR_PREFIX "ModelRateLimited",
  [SBX_FAILURE_ADDRESS_REFUSED] = SBX_BUS_ERROR_PREFIX "AddressRefused",
  [SBX_FAILURE_KEY_REFLECTED] = SBX_BUS_ERROR_PREFIX "KeyReflected",
  [SBX_FAILURE_BUDGET_SPENT] = SBX_BUS_ERROR_PREFIX "BudgetSpent",
  [SBX_FAILURE_DEADLINE] = SBX_BUS_ERROR_PREFIX "DeadlineExceeded",
  [SBX_FAILURE_CANCELLED] = SBX_BUS_ERROR_PREFIX "Cancelled",
  [SBX_FAILURE_WORKER_FAILED] = SBX_BUS_ERROR_PREFIX "WorkerFailed",
  [SBX_FAILURE_WORKER_KILLED] = SBX_BUS_ERROR_PREFIX "WorkerKilled",
  [SBX_FAILURE_WORKER_OOM] = SBX_BUS_ERROR_PREFIX "WorkerOutOfMemory",
  [SBX_FAILURE_REPLY_INVALID] = SBX_BUS_ERROR_PREFIX "ReplyInvalid",
  [SBX_FAILURE_REPLY_TOO_LARGE] = SBX_BUS_ERROR_PREFIX "ReplyTooLarge",
  [SBX_FAILURE_STORE_UNREADABLE] = SBX_BUS_ERROR_PREFIX "StoreUnreadable",
  [SBX_FAILURE_WORKSPACE_UNSAFE] = SBX_BUS_ERROR_PREFIX "WorkspaceUnsafe",
  [SBX_FAILURE_DISK_FULL] = SBX_BUS_ERROR_PREFIX "DiskFull",
  [SBX_FAILURE_RESTARTED] = SBX_BUS_ERROR_PREFIX "Restarted",
  [SBX_FAILURE_CLEANUP] = SBX_BUS_ERROR_PREFIX "CleanupFailed",
  [SBX_FAILURE_TOOL_FAILED] = SBX_BUS_ERROR_PREFIX "ToolFailed",
  [SBX_FAILURE_TOOL_BUSY] = SBX_BUS_ERROR_PREFIX "ToolBusy",
  [SBX_FAILURE_TOOL_TIMEOUT] = SBX_BUS_ERROR_PREFIX "ToolTimeout",
  [SBX_FAILURE_RULES] = SBX_BUS_ERROR_PREFIX "RefusedByRule",
  [SBX_FAILURE_INTERNAL] = SBX_BUS_ERROR_PREFIX "Internal",
  [SBX_FAILURE_MODE_OFF] = SBX_BUS_ERROR_PREFIX "ModeOff",
  [SBX_FAILURE_DISK_LOW] = SBX_BUS_ERROR_PREFIX "DiskLow",
  [SBX_FAILURE_WORKER_PIDS] = SBX_BUS_ERROR_PREFIX "WorkerProcessLimit",
};
G_STATIC_ASSERT (G_N_ELEMENTS (failure_names) == _SBX_FAILURE_LAST + 1);

const char *
sbx_bus_error_name (SbxBusError code)
{
  return (guint) code < G_N_ELEMENTS (names) ? names[code] : NULL;
}

const char *
sbx_bus_error_failure_name (SbxFailure failure)
{
  return (guint) failure < G_N_ELEMENTS (failure_names) ? failure_names[failure] : NULL;
}

int
sbx_bus_error_set_failure (sd_bus_error *ret_error, SbxFailure failure, const char *text)
{
  const char *name = sbx_bus_error_failure_name (failure);

  g_return_val_if_fail (name != NULL, -EINVAL);

  return sd_bus_error_set (ret_error, name, text != NULL ? text : sbx_failure_text (failure));
}

int
sbx_bus_error_set_gerror (sd_bus_error *ret_error, const GError *error)
{
  if (error->domain == SBX_BUS_ERROR && sbx_bus_error_name ((SbxBusError) error->code) != NULL)
    return sd_bus_error_set (ret_error, sbx_bus_error_name ((SbxBusError) error->code), error->message);
  if (error->domain == SBX_FAILURE_ERROR && sbx_bus_error_failure_name ((SbxFailure) error->code) != NULL)
    return sbx_bus_error_set_failure (ret_error, (SbxFailure) error->code, error->message);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return sbx_bus_error_set_failure (ret_error, SBX_FAILURE_CANCELLED, NULL);
  return sbx_bus_error_set_failure (ret_error, SBX_FAILURE_INTERNAL, error->message);
}
