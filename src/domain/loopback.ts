const loopback = /^(?:localhost|::1|\[::1\]|(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i;

/** Whether a host name or address, also in a URL's brackets, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(host);
}

/** Whether nobody on the way can read or change what goes to this address: https, or http on this machine. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
