import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createTestCertificateAuthority } from './certificates.ts';

/** One request as it arrived. */
export interface ReceivedWebhook {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawBody: string;
  /** When all of it was there, by the wall clock. */
  readonly atMs: number;
}

export interface WebhookReceiver {
  /** `localhost:port`, for CALLBACK_ALLOWED_HOSTS. */
  readonly host: string;
  readonly url: string;
  /** PEM of the authority that signed its certificate, for NODE_EXTRA_CA_CERTS. */
  readonly caPem: string;
  readonly received: readonly ReceivedWebhook[];
  stop(): Promise<void>;
}

/** Starts a receiver that answers every request with this status, once `beforeAnswer` lets it. */
export async function startWebhookReceiver(
  status = 204,
  beforeAnswer: () => Promise<void> | void = () => {},
): Promise<WebhookReceiver> {
  const authority = await createTestCertificateAuthority();
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const received: ReceivedWebhook[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawBody: Buffer.concat(chunks).toString('utf8'),
      atMs: Date.now(),
    });
    await beforeAnswer();
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `https://${host}/webhook`,
    caPem: authority.caPem,
    received,
    async stop() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
