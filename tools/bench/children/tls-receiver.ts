/** Merchant's endpoint that accepts every webhook immediately, in a separate process. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createTestCertificateAuthority } from '../../../test/support/certificates.ts';
import { answerParent } from '../answer-parent.ts';
import type { ReceiverReady } from '../measurements/webhooks.ts';

const authority = await createTestCertificateAuthority();
const { certPem, keyPem } = await authority.issue({ names: ['shop.example.com'] });
const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
  request.resume().on('end', () => response.writeHead(204).end());
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const ready: ReceiverReady = { port: (server.address() as AddressInfo).port, caPem: authority.caPem };
answerParent(
  ready,
  () => ready,
  async () => {
    server.closeAllConnections();
    server.close();
  },
);
