import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child-process.ts';
import { orderOfRound } from '../statistics.ts';
import type { Measurement } from './measurement.ts';

/** Destination of webhooks, as reported by the receiver's process. */
export interface ReceiverReady {
  readonly port: number;
  readonly caPem: string;
}

/** Results of a sender's run. */
export interface SentPosts {
  readonly posts: number;
  readonly durationMs: number;
  readonly cpuMicroseconds: number;
}

export type SenderName = 'bare' | 'service';

/**
 * The webhooks of paid payments, claimed, signed, sent and recorded as the worker does it, against the same number of
 * bare TLS posts. Both open a connection for each and send 64 at a time to the same receiver on the other core.
 */
export const webhooks: Measurement = {
  name: 'webhooks',
  title: 'Webhooks to a fast TLS receiver, 64 at a time',
  async measure({ machine, extent, folder }) {
    const receiver = await startChild<ReceiverReady>('children/tls-receiver.ts', [], {
      pin: machine.loadCore,
    });
    const { port, caPem } = receiver.ready;
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, caPem);
    const start = (name: SenderName) =>
      startChild('children/webhook-sender.ts', [name, folder, String(port)], {
        pin: machine.measuredCore,
        // Adds the authority as an operator does, so that the service keeps its own list as shipped.
        environment: { NODE_EXTRA_CA_CERTS: caFile },
      });
    const senders = { bare: await start('bare'), service: await start('service') };
    const names: readonly SenderName[] = ['bare', 'service'];
    const sent: Record<SenderName, SentPosts[]> = { bare: [], service: [] };
    try {
      for (const name of names) await senders[name].ask<SentPosts>(Math.ceil(extent.webhooks / 2));
      for (let round = 0; round < extent.rounds; round++) {
        for (const name of orderOfRound(names, round)) {
          sent[name].push(await senders[name].ask<SentPosts>(extent.webhooks));
        }
      }
    } finally {
      await Promise.all([senders.bare.stop(), senders.service.stop(), receiver.stop()]);
    }
    const perSecond = ({ posts, durationMs }: SentPosts) => (posts * 1000) / durationMs;
    const cpu = ({ posts, cpuMicroseconds }: SentPosts) => cpuMicroseconds / posts;
    const pairs = (ratio: (service: SentPosts, bare: SentPosts) => number) =>
      sent.service.map((service, round) => ratio(service, sent.bare[round] as SentPosts));
    return [
      { name: 'bare posts', unit: 'a second', values: sent.bare.map(perSecond) },
      { name: 'webhooks', unit: 'a second', values: sent.service.map(perSecond) },
      { name: 'CPU of a bare post', unit: 'µs', values: sent.bare.map(cpu) },
      { name: 'CPU of a webhook', unit: 'µs', values: sent.service.map(cpu) },
      { name: 'of bare posts', unit: '', values: pairs((own, bare) => perSecond(own) / perSecond(bare)) },
      { name: 'of bare posts, CPU', unit: '', values: pairs((own, bare) => cpu(bare) / cpu(own)) },
    ];
  },
};
