/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A worker that does what none should: which of it, the guest's text says, as "[[bad:NAME]]". Static, so that
 * the image is this one file. A text without such a word gets a good reply.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GOOD "{\"ok\":true,\"text\":\"good\"}\n"

static char turn[1024 * 1024];
static char block[64 * 1024];

static void
read_turn (void)
{
  size_t length = 0;

  while (length < sizeof turn - 1)
    {
      ssize_t got = read (STDIN_FILENO, turn + length, sizeof turn - 1 - length);

      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        break;
      length += (size_t) got;
      if (turn[length - 1] == '\n')
        break;
    }
}

static void
say (const char *text)
{
  if (write (STDOUT_FILENO, text, strlen (text)) < 0)
    _exit (3);
}

static void
linger (void)
{
  for (;;)
    (void) pause ();
}

static void
ignore_signals (void)
{
  sigset_t all;

  (void) sigfillset (&all);
  (void) sigprocmask (SIG_BLOCK, &all, NULL);
  for (int number = 1; number < NSIG; number++)
    (void) signal (number, SIG_IGN);
  linger ();
}

static void
flood (int fd)
{
  memset (block, 'x', sizeof block);
  for (;;)
    if (write (fd, block, sizeof block) < 0 && errno != EINTR && errno != EAGAIN)
      linger ();
}

static void
fork_to_limit (void)
{
  for (;;)
    {
      pid_t child = fork ();

      if (child == 0)
        linger ();
      if (child < 0)
        linger ();
    }
}

static void
fill_memory (void)
{
  for (;;)
    {
      char *some =
        mmap (NULL, sizeof block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

      if (some == MAP_FAILED)
        linger ();
      memset (some, 'x', sizeof block);
    }
}

static void
fill_file (const char *path)
{
  int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  if (fd < 0)
    _exit (4);
  memset (block, 'x', sizeof block);
  while (write (fd, block, sizeof block) > 0)
    continue;
  say (GOOD);
  _exit (0);
}

static void
close_stdout (void)
{
  (void) close (STDOUT_FILENO);
  (void) close (STDERR_FILENO);
  linger ();
}

static void
reply_and_linger (void)
{
  say (GOOD);
  linger ();
}

/* As many as it may have, each of which wants a processor and the workspace for itself. */
static void
reply_and_burn (void)
{
  say (GOOD);
  while (fork () > 0)
    continue;
  for (;;)
    {
      int fd = open ("/workspace/late", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

      (void) unlink ("/workspace/late");
      (void) close (fd);
    }
}

static void
reply_twice (void)
{
  say (GOOD);
  say ("{\"ok\":true,\"text\":\"another\"}\n");
  _exit (0);
}

static void
reply_no_utf8 (void)
{
  say ("{\"ok\":true,\"text\":\"\xff\xfe\"}\n");
  _exit (0);
}

static void
exit_at_once (void)
{
  _exit (0);
}

static void
flood_stdout (void)
{
  flood (STDOUT_FILENO);
}

static void
flood_stderr (void)
{
  flood (STDERR_FILENO);
}

static void
fill_workspace (void)
{
  fill_file ("/workspace/big");
}

static void
fill_tmp (void)
{
  fill_file ("/tmp/big");
}

static const struct {
  const char *word;
  void (*act) (void);
} kinds[] = {
  { "[[bad:ignore-signals]]", ignore_signals },
  { "[[bad:flood-stdout]]", flood_stdout },
  { "[[bad:flood-stderr]]", flood_stderr },
  { "[[bad:fork-to-limit]]", fork_to_limit },
  { "[[bad:fill-memory]]", fill_memory },
  { "[[bad:fill-workspace]]", fill_workspace },
  { "[[bad:fill-tmp]]", fill_tmp },
  { "[[bad:close-stdout]]", close_stdout },
  { "[[bad:reply-and-linger]]", reply_and_linger },
  { "[[bad:reply-and-burn]]", reply_and_burn },
  { "[[bad:reply-twice]]", reply_twice },
  { "[[bad:reply-no-utf8]]", reply_no_utf8 },
  { "[[bad:exit-at-once]]", exit_at_once },
};

int
main (void)
{
  read_turn ();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strstr (turn, kinds[i].word) != NULL)
      kinds[i].act ();
  say (GOOD);
  return 0;
}
