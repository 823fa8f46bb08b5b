/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
/* A static worker that costs next to nothing: reads its turn to the end, and replies. With "hold" it replies
 * only when its standard input's turn is read and /workspace/go-on exists; until then the turn's broker can
 * be called. */
#include <string.h>
#include <time.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  static const char reply[] = "{\"ok\":true,\"text\":\"Done.\"}\n";
  char buffer[65536];

  while (read (STDIN_FILENO, buffer, sizeof buffer) > 0)
    ;
  if (argc > 1 && strcmp (argv[1], "hold") == 0)
    while (access ("/workspace/go-on", F_OK) != 0)
      nanosleep (&(struct timespec){ .tv_nsec = 50000000 }, NULL);
  return write (STDOUT_FILENO, reply, sizeof reply - 1) < 0;
}
