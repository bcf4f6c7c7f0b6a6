import { Agent, request } from 'node:https';
import type { Posts } from './webhook-sender.ts';

/** Same length as a webhook's body. */
const body = JSON.stringify({ event: 'payment.paid', filling: 'x'.repeat(520) });

/**
 * The least that posts over TLS can be with Node's own client: a new connection for each, its certificate verified,
 * nothing stored. No session is resumed, as between a shop's webhooks there is mostly none to resume.
 */
export function createBarePosts(port: number): Posts {
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });
  const post = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(
        {
          agent,
          host: '127.0.0.1',
          port,
          servername: 'shop.example.com',
          method: 'POST',
          path: '/hook',
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        },
        (response) => {
          response.resume().on('end', () => {
            if (response.statusCode === 204) resolve();
            else reject(new Error(`the receiver answered ${response.statusCode}`));
          });
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
  return {
    prepare: async () => {},
    async send(posts, atATime) {
      let left = posts;
      const loop = async () => {
        while (left-- > 0) await post();
      };
      await Promise.all(Array.from({ length: atATime }, loop));
    },
    stop: async () => agent.destroy(),
  };
}
