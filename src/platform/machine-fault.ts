/** Remedies for system errors that this machine causes, by error code. */
const wayOuts: Readonly<Record<string, string>> = {
  EMFILE: 'this process may not open more files: raise its limit (ulimit -n, LimitNOFILE= or ulimits:)',
  ENFILE: 'this machine may not open more files: end programs, or raise fs.file-max',
  ENOBUFS: 'this machine has no memory left for connections: end programs, or add memory',
  ENOMEM: 'this machine has no memory left: end programs, or add memory',
  EADDRNOTAVAIL:
    'this machine has no free local port for a connection: end connections, or widen net.ipv4.ip_local_port_range',
};

/** Returns the remedy for an error that this machine caused; null if the peer or the configuration may be the cause. */
export function machineFaultOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  // Accepts EADDRNOTAVAIL only for `connect`, because listening on another machine's IP address fails with it, too.
  if (Object.hasOwn(wayOuts, code) && (code !== 'EADDRNOTAVAIL' || syscall === 'connect'))
    return `${wayOuts[code]} (${code})`;
  const causes = [error.cause, ...(error instanceof AggregateError ? error.errors : [])];
  return causes.map(machineFaultOf).find((found) => found !== null) ?? null;
}

/** Returns the name that the runtime gave an error, such as `TimeoutError`, or else the name of its class. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return error.name === 'Error' ? error.constructor.name : error.name;
}
