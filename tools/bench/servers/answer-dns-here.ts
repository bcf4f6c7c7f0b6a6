import { Resolver } from 'node:dns/promises';

/** Resolves every name to one public IPv4 address, with the service's own cache in use. */
export function answerDnsHere(): void {
  const resolve4 = async () => ['93.184.215.14'];
  const resolve6 = async () => {
    throw Object.assign(new Error('no AAAA record'), { code: 'ENODATA' });
  };
  Object.assign(Resolver.prototype, { resolve4, resolve6 });
}
