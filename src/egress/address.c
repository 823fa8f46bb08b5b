/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The roundtable-sandbox authors */
#include "egress/address.h"

#include <netinet/in.h>
#include <string.h>

/* IANA's special-purpose registries (RFC 6890 and its updates), and multicast. */
static const struct {
  guint32 network;
  guint bits;
} special4[] = {
  { 0x00000000, 8 },  /* this network */
  { 0x0a000000, 8 },  /* private */
  { 0x64400000, 10 }, /* shared, carrier NAT */
  { 0x7f000000, 8 },  /* loopback */
  { 0xa9fe0000, 16 }, /* link-local: cloud metadata lives here */
  { 0xac100000, 12 }, /* private */
  { 0xc0000000, 24 }, /* protocol assignments */
  { 0xc0000200, 24 }, /* documentation */
  { 0xc0a80000, 16 }, /* private */
  { 0xc6120000, 15 }, /* benchmarking */
  { 0xc6336400, 24 }, /* documentation */
  { 0xcb007100, 24 }, /* documentation */
  { 0xe0000000, 3 },  /* multicast, reserved, broadcast */
};

static gboolean
is_public4 (guint32 address)
{
  for (gsize i = 0; i < G_N_ELEMENTS (special4); i++)
    if (address >> (32 - special4[i].bits) == special4[i].network >> (32 - special4[i].bits))
      return FALSE;
  return TRUE;
}

static guint32
read4 (const guint8 *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8 | bytes[3];
}

static gboolean
is_public6 (const guint8 *bytes)
{
  static const guint8 mapped[12] = { [10] = 0xff, [11] = 0xff };
  static const guint8 nat64[12] = { 0x00, 0x64, 0xff, 0x9b };

  if (memcmp (bytes, mapped, sizeof mapped) == 0 || memcmp (bytes, nat64, sizeof nat64) == 0)
    return is_public4 (read4 (bytes + 12));
  if (bytes[0] == 0x20 && bytes[1] == 0x02) /* 6to4 */
    return is_public4 (read4 (bytes + 2));
  if (bytes[0] == 0x20 && bytes[1] == 0x01
      && ((bytes[2] & 0xfe) == 0 || (bytes[2] == 0x0d && bytes[3] == 0xb8)))
    return FALSE; /* 2001::/23 protocol assignments (Teredo among them), 2001:db8::/32 documentation */
  /* What is given out: 2000::/3. Loopback, unspecified, unique local, link-local and multicast lie outside.
   */
  return (bytes[0] & 0xe0) == 0x20;
}

gboolean
sbx_address_is_public (const struct sockaddr *address, socklen_t n_bytes)
{
  struct sockaddr_in in4;
  struct sockaddr_in6 in6;

  if (address->sa_family == AF_INET && n_bytes >= sizeof in4)
    {
      memcpy (&in4, address, sizeof in4);
      return is_public4 (ntohl (in4.sin_addr.s_addr));
    }
  if (address->sa_family == AF_INET6 && n_bytes >= sizeof in6)
    {
      memcpy (&in6, address, sizeof in6);
      return is_public6 (in6.sin6_addr.s6_addr);
    }
  return FALSE;
}
