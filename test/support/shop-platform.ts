/** What a shop platform with a plugin is tested against, for the packages in `plugins/`: sandbox, HTTPS, database, secret. */
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestCertificateAuthority, type TestCertificateAuthority } from './certificates.ts';
import { startEndToEndService } from './e2e-service.ts';
import { startPostgres } from './postgres.ts';
import { runCommand } from './service-process.ts';
import { waitFor } from './wait-for.ts';

/** Waits until `check` answers with something true. */
export function until<T>(
  what: string,
  check: () => Promise<T> | T,
  boundMs = 60_000,
): Promise<NonNullable<T>> {
  return waitFor(what, boundMs, async () => (await check()) || undefined);
}

/** Starts what a shop at this URL needs, and adds to `stops` what ends it, the last first. */
export async function startShopService(url: string, stops: (() => unknown)[]) {
  const authority = await createTestCertificateAuthority();
  const front = await startFront(authority, url);
  stops.push(front.stop);
  const others = { hosts: [front.host], caPem: authority.caPem };
  const service = await startEndToEndService({}, { others });
  stops.push(service.stop);
  const card = (command: string, ...words: string[]) => runCommand(service.environment, command, ...words);
  const [account] = JSON.parse(await card('account list', '--json')) as { account_id: string }[];
  const allowReturnHosts = (hosts: string) =>
    card('account update', account?.account_id ?? '', '--return-hosts', hosts);
  await allowReturnHosts(new URL(url).host);
  const webhookSecret = await createWebhookSecret(service.url, service.environment['DATA_DIR'] ?? '');
  const postgres = await startPostgres();
  stops.push(postgres.stop);
  const databaseUrl = await postgres.createDatabase();
  return {
    front,
    service,
    card,
    allowReturnHosts,
    webhookSecret,
    databaseUrl,
    query: (sql: string) => postgres.query(databaseUrl, sql),
  };
}

/** HTTPS in front of the shop. While `isLost` is set, it answers webhooks itself, and the shop hears nothing of them. */
async function startFront(authority: TestCertificateAuthority, shopUrl: string) {
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const kept: { readonly body: Buffer; readonly headers: IncomingHttpHeaders }[] = [];
  const statuses: number[] = [];
  const front = { isLost: false, kept, statuses };
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
    kept.push({ body, headers });
    const sent = { method: request.method ?? 'POST', headers: headers as Record<string, string>, body };
    const status = front.isLost ? 503 : (await fetch(`${shopUrl}${request.url}`, sent)).status;
    statuses.push(status);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(front, {
    host: `localhost:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  });
}

/** Creates the secret that signs webhooks, as the owner of the demo account does in the dashboard. */
export async function createWebhookSecret(url: string, dataDir: string): Promise<string> {
  const { email, password } = JSON.parse(readFileSync(join(dataDir, 'sandbox-demo-account.json'), 'utf8'));
  const cookies = new Map<string, string>();
  async function send(path: string, form?: Readonly<Record<string, string>>) {
    const response = await fetch(url + path, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...(form === undefined ? {} : { origin: url, 'sec-fetch-site': 'same-origin' }),
      },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return { page: await response.text(), location: response.headers.get('location') ?? '' };
  }
  const field = (page: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
  await send('/dashboard/sign-in', { email, password });
  const { page } = await send('/dashboard/webhook-check');
  const form = { password, secrets: field(page, 'secrets') };
  const { location } = await send('/dashboard/webhook-check/create', form);
  const shown = (await send(location)).page.replaceAll('&#x3D;', '=').replaceAll('&#61;', '=');
  const [secret] = /whsec_[A-Za-z0-9+/]{43}=/.exec(shown) ?? [];
  if (secret === undefined) throw new Error('the dashboard showed no secret');
  return secret;
}
