/**
 * Delivers webhooks at once in a process of its own, and prints the outcomes and by how many MiB its peak of resident memory
 * was above what it held before: for what Node reads from the environment only when it starts, and for what deliveries
 * cost. Its one argument is JSON: `{ urls, allowedHosts, dnsServer?, connectToPort? }`.
 */

import { createHostResolver } from '../../src/webhooks/callback-host.ts';
import { deliverWebhook } from '../../src/webhooks/deliver.ts';

const { urls, allowedHosts, dnsServer, connectToPort } = JSON.parse(process.argv[2] ?? '{}');
const resolver = createHostResolver({
  ...(dnsServer === undefined ? {} : { servers: [dnsServer] }),
  timeoutMs: 5_000,
});
const parts = {
  resolver,
  ownAddresses: () => new Set<never>(),
  own: null,
  allowedHosts: new Set<string>(allowedHosts),
  ...(connectToPort === undefined
    ? {}
    : { connectTo: () => ({ address: '127.0.0.1', port: Number(connectToPort) }) }),
};
const beforeBytes = process.memoryUsage.rss();
const outcomes = await Promise.all(
  (urls as string[]).map((url) => deliverWebhook(parts, { url, body: '{}', signature: 'signature' })),
);
const grownMib = process.resourceUsage().maxRSS / 1024 - beforeBytes / 2 ** 20;
console.log(JSON.stringify({ outcomes, grownMib }));
