/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "wire/failure.h"

static const struct {
  const char *name;
  const char *text;
} failures[] = {
  [SBX_FAILURE_NONE] = { "none", "Nothing failed." },
  [SBX_FAILURE_IMAGE_MISSING] = { "image-missing", "The worker image is not there. Make it with \"sandboxctl "
                                                   "image build\", or name another with Image= in "
                                                   "sandboxd.conf." },
  [SBX_FAILURE_DOCKER_DOWN] = { "docker-down", "Docker does not answer. Look at \"systemctl status "
                                               "docker.service docker.socket\"." },
  [SBX_FAILURE_DOCKER_REFUSED] = { "docker-refused", "Docker refused the worker's container. The journal of "
                                                     "sandboxd has Docker's words." },
  [SBX_FAILURE_SCOPE_REFUSED] = { "scope-refused", "systemd did not make the broker's scope. Check that the "
                                                   "polkit rules for the user sandboxd are installed." },
  [SBX_FAILURE_BROKER_FAILED] = { "broker-failed",
                                  "The turn's broker ended early. The journal of its scope says why." },
  [SBX_FAILURE_EGRESS_DOWN] = { "egress-down", "sandbox-egress does not answer. Look at \"systemctl status "
                                               "sandbox-egress.socket\"." },
  [SBX_FAILURE_KEY_MISSING] = { "key-missing", "A key file is missing, empty or malformed. The journal of "
                                               "sandbox-egress names the file." },
  [SBX_FAILURE_MODEL_REFUSED] = { "model-refused",
                                  "The model's endpoint refused the call. The journal has its status." },
  [SBX_FAILURE_MODEL_UNREACHABLE] = { "model-unreachable", "The model's endpoint cannot be reached: name, "
                                                           "connection or certificate. See the journal of "
                                                           "sandbox-egress." },
  [SBX_FAILURE_MODEL_ANSWER] = { "model-answer", "The model's endpoint gave an answer that cannot be used." },
  [SBX_FAILURE_MODEL_TIMEOUT] = { "model-timeout", "The model's endpoint did not answer in time." },
  [SBX_FAILURE_RATE_LIMITED] = { "rate-limited",
                                 "The endpoint asks to come back later than the turn may wait." },
  [SBX_FAILURE_ADDRESS_REFUSED] = { "address-refused", "The endpoint's name gave a private, loopback or "
                                                       "link-local address. Set AllowPrivate=yes for the "
                                                       "endpoint if that is meant." },
  [SBX_FAILURE_KEY_REFLECTED] = { "key-reflected", "An answer held a live key and was kept back." },
  [SBX_FAILURE_BUDGET_SPENT] = { "budget-spent", "The turn used all of its calls." },
  [SBX_FAILURE_DEADLINE] = { "deadline", "The turn's time was up." },
  [SBX_FAILURE_CANCELLED] = { "cancelled", "The turn was cancelled." },
  [SBX_FAILURE_WORKER_FAILED] = { "worker-failed", "The worker ended without a reply." },
  [SBX_FAILURE_WORKER_KILLED] = { "worker-killed", "The worker was killed." },
  [SBX_FAILURE_WORKER_OOM] = { "worker-oom", "The worker used more memory than MemoryMax= allows." },
  [SBX_FAILURE_REPLY_INVALID] = { "reply-invalid",
                                  "The worker's output is not one reply of the documented form." },
  [SBX_FAILURE_REPLY_TOO_LARGE] = { "reply-too-large", "The worker wrote more than its output may hold." },
  [SBX_FAILURE_STORE_UNREADABLE] = { "store-unreadable", "The channel's memory or history cannot be read." },
  [SBX_FAILURE_WORKSPACE_UNSAFE] = { "workspace-unsafe",
                                     "The channel's workspace is not a plain directory of sandboxd's with "
                                     "the right mode. Look at it before "
                                     "anything else." },
  [SBX_FAILURE_DISK_FULL] = { "disk-full", "There is too little space or there are too few inodes left." },
  [SBX_FAILURE_RESTARTED] = { "restarted", "sandboxd was restarted while the turn ran." },
  [SBX_FAILURE_CLEANUP] = { "cleanup-failed",
                            "Something of the turn could not be removed yet; it is tried again." },
  [SBX_FAILURE_TOOL_FAILED] = { "tool-failed", "A host tool failed." },
  [SBX_FAILURE_TOOL_BUSY] = { "tool-busy", "A host tool does not take more calls now." },
  [SBX_FAILURE_TOOL_TIMEOUT] = { "tool-timeout", "A host tool did not finish in time." },
  [SBX_FAILURE_RULES] = { "refused-by-rule", "A request broke a rule of its route." },
  [SBX_FAILURE_INTERNAL] = { "internal", "A fault inside sandboxd. The journal has more." },
  [SBX_FAILURE_MODE_OFF] = { "mode-off", "The channel was taken out of the sandbox while the turn waited." },
  [SBX_FAILURE_DISK_LOW] = { "disk-low",
                             "The file system of the workspaces has less space or fewer inodes left "
                             "than MinFree= of sandboxd.conf asks for." },
  [SBX_FAILURE_WORKER_PIDS] = { "worker-pids", "The worker started more processes than PidsMax= allows." },
};

const char *
sbx_failure_name (SbxFailure failure)
{
  return sbx_failure_is_known (failure) ? failures[failure].name : NULL;
}

const char *
sbx_failure_text (SbxFailure failure)
{
  return failures[sbx_failure_is_known (failure) ? failure : SBX_FAILURE_INTERNAL].text;
}

gboolean
sbx_failure_is_known (guint number)
{
  return number < G_N_ELEMENTS (failures);
}
