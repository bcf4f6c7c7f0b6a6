import { addressIdentity } from '../../../src/platform/public-address.ts';
import { createCallbackHostCheck, createHostResolver } from '../../../src/webhooks/callback-host.ts';
import { deliverWebhook } from '../../../src/webhooks/deliver.ts';
import { createTestCertificateAuthority } from '../../support/certificates.ts';
import { type StubDnsAnswer, startDnsServer } from '../../support/dns-server.ts';
import { startRecordingTlsServer } from '../../support/recording-tls-server.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { createDraws } from '../simulation/draws.ts';
import { canonicalAddress } from './draw-address.ts';
import { type DrawnCallback, drawCallback } from './draw-callback.ts';

const SHORT_CASES = 300;
const LONG_CASES = 10_000;
const PROGRESS_CASES = 2_000;

const NEVER_PRIVATE = 'No webhook goes to a private address, whatever DNS returns at delivery';
const ARRIVES = 'A webhook to public addresses arrives in one request, without following redirects';

/** Real deliveries over a DNS server that lies, to a receiver that stands in for every address. */
export async function runDelivery({ seed, long, log }: PartOptions): Promise<readonly PromiseResult[]> {
  const cases = long ? LONG_CASES : SHORT_CASES;
  const [never, arrives] = [
    { promise: NEVER_PRIVATE, cases, violations: 0 },
    { promise: ARRIVES, cases: 0, violations: 0 },
  ];
  const network = await openNetwork();
  try {
    for (let number = seed; number < seed + cases; number++) {
      const callback = drawCallback(createDraws(number), number);
      const { connectedTo, requests, outcome } = await network.deliver(callback);
      const story = () =>
        `${callback.url} was ${outcome}, connected to ${connectedTo.join(', ') || 'nothing'}`;
      if (connectedTo.some((address) => !callback.allowed.has(canonicalAddress(address)))) {
        never.violations++;
        log(`seed ${number} broke "${NEVER_PRIVATE}": ${story()}`);
      }
      if (callback.mustArrive) {
        arrives.cases++;
        if (requests !== 1) {
          arrives.violations++;
          log(`seed ${number} broke "${ARRIVES}": ${story()}, ${requests} requests`);
        }
      }
      const done = number - seed + 1;
      if (done % PROGRESS_CASES === 0) log(`${done} deliveries`);
    }
  } finally {
    await network.close();
  }
  return [never, arrives];
}

interface Delivered {
  /** The addresses that a connection was about to be opened to. */
  readonly connectedTo: readonly string[];
  readonly requests: number;
  readonly outcome: string;
}

async function openNetwork() {
  const authority = await createTestCertificateAuthority();
  let redirect: string | null = null;
  const receiver = await startRecordingTlsServer(
    await authority.issue({ names: ['*.example.com'] }),
    ({ socket }) => {
      const status = redirect === null ? '200 OK' : `307 Temporary Redirect\r\nLocation: ${redirect}`;
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
    },
  );
  let answer: StubDnsAnswer = {};
  const dns = await startDnsServer(() => answer);
  const resolver = createHostResolver({
    servers: [dns.server],
    timeoutMs: 10_000,
    cacheTtlMs: 60_000,
    cacheMaxEntries: 100,
  });
  const check = createCallbackHostCheck(resolver, () => new Set());

  return {
    async deliver(callback: DrawnCallback): Promise<Delivered> {
      answer = callback.atCreation;
      await check(URL.parse(callback.url)?.hostname ?? '');
      answer = callback.atDelivery;
      redirect = callback.redirect;
      const before = receiver.requests.length;
      const connectedTo: string[] = [];
      const own = new Set(callback.own.map((address) => addressIdentity(address) as string));
      const delivery = await deliverWebhook(
        {
          resolver,
          ownAddresses: () => own,
          own: null,
          allowedHosts: new Set(),
          ca: authority.caPem,
          connectTo(address) {
            connectedTo.push(address);
            return { address: '127.0.0.1', port: receiver.port };
          },
        },
        { url: callback.url, body: '{}', signature: '0' },
      );
      const outcome = `${delivery.outcome} (${delivery.reason ?? delivery.httpStatus})`;
      return { connectedTo, requests: receiver.requests.length - before, outcome };
    },
    async close() {
      resolver.close();
      await dns.close();
      await receiver.close();
    },
  };
}
