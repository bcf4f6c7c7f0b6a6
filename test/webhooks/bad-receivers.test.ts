import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { AttemptOutcome } from '../../src/webhooks/deliver.ts';
import { createTestCertificateAuthority } from '../support/certificates.ts';
import { type RequestContext, startRecordingTlsServer } from '../support/recording-tls-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { behave, drip, pump } from './misbehave.ts';

const DELIVERIES = 500;
const MOST_GROWN_MIB = 200;
/** Ten seconds, and what a busy machine is late with its timers. */
const LONGEST_MS = 13_000;

const OK = 'HTTP/1.1 200 OK\r\n';
/** How the receivers misbehave, in turn. */
const misbehaviors: readonly ((context: RequestContext) => unknown)[] = [
  () => {},
  (context) => drip(context, `${OK}X-Drip: ${'x'.repeat(1_000)}`),
  (context) => {
    context.socket.write(`${OK}Content-Length: 1000\r\n\r\n`);
    return drip(context, 'x'.repeat(1_000));
  },
  (context) => pump(context, `${OK}X-Endless: `),
  (context) => pump(context, `${OK}\r\n`),
  (context) => pump(context, `${OK}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n`),
  (context) => behave(context, { encoding: 'gzip' }),
  (context) => behave(context, { reset: 'after_body' }),
];

it('ends 500 deliveries to bad receivers in time, each with one request, in at most 200 MiB of memory', async () => {
  const authority = await createTestCertificateAuthority();
  const server = await startRecordingTlsServer(await authority.issue({ names: ['localhost'] }), (context) => {
    const index = Number(context.request.head[0]?.split(/[/ ]/)[2]);
    return misbehaviors[index % misbehaviors.length]?.(context);
  });
  const host = `localhost:${server.port}`;
  const urls = Array.from({ length: DELIVERIES }, (_, index) => `https://${host}/${index}`);
  const folder = temporaryFolder();
  try {
    await writeFile(join(folder, 'ca.pem'), authority.caPem);
    const script = join(import.meta.dirname, '../support/deliver-webhooks.ts');
    const words = [script, JSON.stringify({ urls, allowedHosts: [host] })];
    const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
    const { stdout } = await promisify(execFile)(process.execPath, words, { env, maxBuffer: 16 * 2 ** 20 });
    const { outcomes, grownMib }: { outcomes: AttemptOutcome[]; grownMib: number } = JSON.parse(stdout);

    expect(grownMib).toBeLessThan(MOST_GROWN_MIB);
    expect(outcomes).toHaveLength(DELIVERIES);
    expect(Math.max(...outcomes.map(({ durationMs }) => durationMs))).toBeLessThan(LONGEST_MS);
    expect(Math.max(...outcomes.map((outcome) => outcome.responseBytes ?? 0))).toBe(64 * 1024);
    const requested = server.requests.map(({ head }) => head[0]);
    expect(new Set(requested).size).toBe(requested.length);
    // On a busy machine, some of the handshakes may not end in time.
    expect(requested.length).toBeGreaterThan(DELIVERIES / 2);
  } finally {
    await server.close();
  }
}, 120_000);
