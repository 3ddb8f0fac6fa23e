/** First file descriptor of sockets that a service manager passes (sd_listen_fds(3)). */
const firstDescriptor = 3;

/**
 * The file descriptor of a listening socket that systemd, or another parent, hands to this process: `LISTEN_PID` is this
 * process and `LISTEN_FDS` is 1. Undefined without one. Throws an error of one line if there are several.
 */
export function inheritedSocket(
  { LISTEN_PID, LISTEN_FDS }: { LISTEN_PID?: string | undefined; LISTEN_FDS?: string | undefined },
  pid: number,
): number | undefined {
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return undefined;
  if (LISTEN_FDS !== '1') {
    throw new Error(`${LISTEN_FDS} sockets were passed (LISTEN_FDS): the socket unit may have only one ListenStream`);
  }
  return firstDescriptor;
}
