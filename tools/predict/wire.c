/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A message is an SlWire and its text, in one datagram of a SOCK_SEQPACKET socket, with at most one
 * file descriptor.
 */
#include "tools/predict/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

typedef union
{
  struct cmsghdr header;
  char space[CMSG_SPACE (sizeof (int))];
} Ancillary;

gboolean
sl_wire_pair (int sockets[2])
{
  return socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0;
}

gboolean
sl_wire_send (int socket, const SlWire *message, const char *text, int file)
{
  struct iovec parts[2] = {
    { .iov_base = (void *) message, .iov_len = sizeof *message },
    { .iov_base = (void *) text,
      .iov_len = text != NULL ? MIN (strlen (text), (gsize) SL_WIRE_MAX_TEXT) : 0 },
  };
  struct msghdr header = { .msg_iov = parts, .msg_iovlen = G_N_ELEMENTS (parts) };
  Ancillary ancillary = { 0 };
  if (file >= 0) {
    header.msg_control = &ancillary;
    header.msg_controllen = sizeof ancillary;
    struct cmsghdr *first = CMSG_FIRSTHDR (&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN (sizeof file);
    memcpy (CMSG_DATA (first), &file, sizeof file);
  }
  ssize_t sent;
  do
    sent = sendmsg (socket, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

static int
take_file (struct msghdr *header)
{
  int file = -1;
  for (struct cmsghdr *one = CMSG_FIRSTHDR (header); one != NULL; one = CMSG_NXTHDR (header, one))
    if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS
        && one->cmsg_len == CMSG_LEN (sizeof file))
      memcpy (&file, CMSG_DATA (one), sizeof file);
  return file;
}

gboolean
sl_wire_receive (int socket, SlWire *message, char *text, int *file)
{
  struct iovec parts[2] = {
    { .iov_base = message, .iov_len = sizeof *message },
    { .iov_base = text, .iov_len = SL_WIRE_MAX_TEXT },
  };
  Ancillary ancillary = { 0 };
  struct msghdr header = { .msg_iov = parts,
                           .msg_iovlen = G_N_ELEMENTS (parts),
                           .msg_control = &ancillary,
                           .msg_controllen = sizeof ancillary };
  ssize_t got;
  do
    got = recvmsg (socket, &header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  *file = got > 0 ? take_file (&header) : -1;
  if (got < (ssize_t) sizeof *message)
    return FALSE;
  text[(gsize) got - sizeof *message] = '\0';
  return TRUE;
}

gboolean
sl_wire_poll (int socket, int ms)
{
  struct pollfd one = { .fd = socket, .events = POLLIN };
  return poll (&one, 1, ms) > 0;
}
