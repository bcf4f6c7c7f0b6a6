/**
 * Delivers one webhook in a process of its own and prints the outcome, for what Node reads from the environment only
 * when it starts. Its one argument is JSON: `{ url, allowedHosts, dnsServer?, connectToPort? }`.
 */

import { createHostResolver } from '../../src/webhooks/callback-host.ts';
import { deliverWebhook } from '../../src/webhooks/deliver.ts';

const { url, allowedHosts, dnsServer, connectToPort } = JSON.parse(process.argv[2] ?? '{}');
const resolver = createHostResolver({
  ...(dnsServer === undefined ? {} : { servers: [dnsServer] }),
  timeoutMs: 5_000,
  cacheTtlMs: 0,
  cacheMaxEntries: 1,
});
const outcome = await deliverWebhook(
  {
    resolver,
    ownAddresses: () => new Set(),
    own: null,
    allowedHosts: new Set<string>(allowedHosts),
    ...(connectToPort === undefined
      ? {}
      : { connectTo: () => ({ address: '127.0.0.1', port: Number(connectToPort) }) }),
  },
  { url, body: '{}', signature: 'signature' },
);
resolver.close();
console.log(JSON.stringify(outcome));
