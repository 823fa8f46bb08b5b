/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "container/spec.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/json-gate.h"
#include "base/names.h"

#define CHANNEL "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const SbxContainerSpec good = {
  .image = "roundtable-sandbox-worker:latest",
  .installation = "inst",
  .channel = CHANNEL,
  .turn = "t1",
  .uid = 990,
  .gid = 989,
  .memory_bytes = 512u * 1024 * 1024,
  .nano_cpus = 1000000000,
  .pids = 64,
  .run_dir = "/run/roundtable-sandbox/turn-1",
  .workspace = "/var/lib/roundtable-sandbox/workspaces/w",
};

/* doc/protocol.md 4, member by member: what must be there, and nothing else may. */
static const char expected[] =
  "{'Image':'roundtable-sandbox-worker:latest','User':'990:989','Env':['HOME=/tmp/home'],"
  "'Labels':{'org.roundtable.sandbox.installation':'inst','org.roundtable.sandbox.channel':'" CHANNEL "',"
  "'org.roundtable.sandbox.turn':'t1'},'OpenStdin':true,'StdinOnce':true,'AttachStdin':true,'AttachStdout':"
  "true,"
  "'AttachStderr':true,'Tty':false,'NetworkDisabled':true,'StopTimeout':1,"
  "'HostConfig':{'NetworkMode':'none','ReadonlyRootfs':true,'CapDrop':['ALL'],'Privileged':false,"
  "'SecurityOpt':['no-new-privileges'],'Memory':536870912,'MemorySwap':536870912,'NanoCpus':1000000000,"
  "'PidsLimit':64,'Ulimits':[{'Name':'nofile','Soft':256,'Hard':256}],"
  "'Tmpfs':{'/tmp':'rw,noexec,nosuid,nodev,size=64m,mode=1777','/dev/"
  "shm':'rw,noexec,nosuid,nodev,size=1m,mode=1777'},"
  "'ShmSize':1048576,'Mounts':["
  "{'Type':'bind','Source':'/run/roundtable-sandbox/turn-1','Target':'/broker','ReadOnly':true,"
  "'BindOptions':{'Propagation':'rprivate'}},"
  "{'Type':'bind','Source':'/var/lib/roundtable-sandbox/workspaces/w','Target':'/workspace','ReadOnly':false,"
  "'BindOptions':{'Propagation':'rprivate'}}],"
  "'LogConfig':{'Type':'none','Config':{}},'Init':false,'AutoRemove':false,'IpcMode':'private',"
  "'CgroupnsMode':'private','RestartPolicy':{'Name':'no'},'OomScoreAdj':500,'CgroupParent':'sandboxd-turn."
  "slice'}}";

static void
test_whole (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = sbx_container_spec_to_json (&good, &error);
  g_autofree char *wanted = g_strdelimit (g_strdup (expected), "'", '"');

  g_assert_no_error (error);
  g_assert_cmpstr (json, ==, wanted);
  g_assert_true (sbx_json_gate (json, strlen (json), 65536, &error));
  g_assert_no_error (error);
}

static void
test_wipe (void)
{
  SbxContainerSpec spec = good;
  g_autoptr (GError) error = NULL;
  g_autofree char *json = NULL;
  static const char *const command[] = { "/wor\"ker", "--wipe", NULL };

  spec.run_dir = NULL;
  spec.command = command;
  spec.runtime = "crun";
  json = sbx_container_spec_to_json (&spec, &error);
  g_assert_no_error (error);
  g_assert_null (strstr (json, "/broker"));
  g_assert_nonnull (strstr (json, "\"Entrypoint\":[\"/wor\\\"ker\",\"--wipe\"],\"Cmd\":[],"));
  g_assert_nonnull (strstr (json, "\"Runtime\":\"crun\","));
  g_assert_true (sbx_json_gate (json, strlen (json), 65536, &error));
}

#define WITH(...)                                                                                            \
  {                                                                                                          \
    .image = "i", .installation = "n", .channel = CHANNEL, .turn = "t", .uid = 1, .gid = 1,                  \
    .memory_bytes = 64u << 20, .nano_cpus = 1, .pids = 8, .run_dir = "/run/a", .workspace = "/var/b",        \
    __VA_ARGS__                                                                                              \
  }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const struct {
  const char *name;
  gboolean good;
  SbxContainerSpec spec;
} rules[] = {
  { "least", TRUE, WITH () },
  { "image-empty", FALSE, WITH (.image = "") },
  { "image-null", FALSE, WITH (.image = NULL) },
  { "image-option", FALSE, WITH (.image = "-v") },
  { "image-blank", FALSE, WITH (.image = "a b") },
  { "installation", FALSE, WITH (.installation = "") },
  { "channel-short", FALSE, WITH (.channel = "abc") },
  { "channel-upper", FALSE,
    WITH (.channel = "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef") },
  { "turn", FALSE, WITH (.turn = NULL) },
  { "root", FALSE, WITH (.uid = 0) },
  { "root-group", FALSE, WITH (.gid = 0) },
  { "memory", FALSE, WITH (.memory_bytes = (64u << 20) - 1) },
  { "memory-negative", FALSE, WITH (.memory_bytes = G_MAXUINT64) },
  { "cpus", FALSE, WITH (.nano_cpus = 0) },
  { "pids", FALSE, WITH (.pids = 7) },
  { "pids-unlimited", FALSE, WITH (.pids = -1) },
  { "run-relative", FALSE, WITH (.run_dir = "run") },
  { "run-root", FALSE, WITH (.run_dir = "/") },
  { "run-comma", FALSE, WITH (.run_dir = "/run,dst=/") },
  { "run-line", FALSE, WITH (.run_dir = "/run\n") },
  { "run-up", FALSE, WITH (.run_dir = "/run/../etc") },
  { "workspace-null", FALSE, WITH (.workspace = NULL) },
  { "workspace-root", FALSE, WITH (.workspace = "/") },
  { "same", FALSE, WITH (.workspace = "/run/a") },
  { "inside", FALSE, WITH (.workspace = "/run/a/w") },
  { "outside", FALSE, WITH (.workspace = "/run") },
  { "neighbours", TRUE, WITH (.workspace = "/run/ab") },
};
#pragma GCC diagnostic pop

static void
test_rules (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *json = sbx_container_spec_to_json (&rules[i].spec, &error);

      g_test_message ("%s", rules[i].name);
      if (rules[i].good)
        g_assert_no_error (error);
      else
        g_assert_error (error, SBX_SPEC_ERROR, SBX_SPEC_ERROR_VALUE);
      g_assert_cmpint (json != NULL, ==, rules[i].good);
    }
}

static void
test_name (void)
{
  g_autofree char *name = sbx_container_name (CHANNEL, 0xab);

  g_assert_cmpstr (name, ==, "roundtable-sandbox-0123456789abcdef-000000ab");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/container/spec/whole", test_whole);
  g_test_add_func ("/container/spec/wipe", test_wipe);
  g_test_add_func ("/container/spec/rules", test_rules);
  g_test_add_func ("/container/spec/name", test_name);
  return g_test_run ();
}
