import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callServer } from '../../src/cli/control-socket.ts';
import { startEndToEndService } from '../support/e2e-service.ts';
import { createRandom } from '../support/random.ts';
import { waitFor } from '../support/wait-for.ts';

/** Half of them lie between the quarters that are compared: a service that keeps 1 KiB of each grows by 5 MiB there. */
const REQUESTS = 10_000;
const CALLERS = 8;
const SAMPLES = 16;
const REMEMBERED = 500;
const MOST_GROWN = { heapMib: 4, files: 16 };
const limits = { RATE_LIMIT_CREATE_PER_MINUTE: '1000000', RATE_LIMIT_STATUS_PER_MINUTE: '1000000' };
/** Collects garbage before each look, so that only what is in use counts. */
const nodeArgs = ['--expose-gc', "--import=data:text/javascript,process.on('SIGUSR2',()=>gc())"];

it('holds the same memory and files after thousands of requests, and has settled every payment among them', async () => {
  const service = await startEndToEndService(limits, { nodeArgs });
  try {
    const random = createRandom(1);
    const known: string[] = [];
    async function ask(): Promise<void> {
      const kind = random();
      const id = known[Math.floor(random() * known.length)];
      if (kind < 0.15 || id === undefined) {
        known.push((await service.create({ amount: (1 + random() * 9_000).toFixed(2) })).payment_id);
        if (known.length > REMEMBERED) known.shift();
      } else if (kind < 0.98) {
        expect(await service.readStatus(`payment_id=${id}`)).toMatchObject({ payment_id: id });
      } else {
        expect(await (await fetch(`${service.url}/pay/${id}`)).text()).toContain('<html');
      }
    }
    const samples: { heapMib: number; files: number }[] = [];
    const paid: string[] = [];
    while (samples.length < SAMPLES) {
      const { payment_id: payment } = await service.create({ amount: '80.00' });
      const control = join(service.environment['DATA_DIR'] as string, 'control.sock');
      await callServer(control, 'sandbox pay', { payment });
      paid.push(payment);
      const callers = Array.from({ length: CALLERS }, async () => {
        for (let done = 0; done < REQUESTS / SAMPLES / CALLERS; done++) await ask();
      });
      await Promise.all(callers);
      const readMetrics = async () =>
        (await fetch(`http://127.0.0.1:${service.environment['ADMIN_PORT']}/metrics`)).text();
      process.kill(service.process().pid, 'SIGUSR2');
      // The first answer may come before the collection.
      await readMetrics();
      const heapBytes = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(await readMetrics())?.[1]);
      const files = readdirSync(`/proc/${service.process().pid}/fd`).length;
      samples.push({ heapMib: heapBytes / 2 ** 20, files });
    }
    for (const figure of ['heapMib', 'files'] as const) {
      const leastOf = (from: number, to: number) =>
        Math.min(...samples.slice(from * SAMPLES, to * SAMPLES).map((sample) => sample[figure]));
      expect(leastOf(3 / 4, 1) - leastOf(1 / 4, 1 / 2), figure).toBeLessThan(MOST_GROWN[figure]);
    }
    for (const id of paid) {
      const webhooks = () => service.receiver.received.filter(({ rawBody }) => rawBody.includes(id));
      await waitFor('the webhook of a payment', 60_000, () => webhooks().length > 0);
      expect(await service.readStatus(`payment_id=${id}`)).toMatchObject({ status: 'paid' });
      expect(webhooks()).toHaveLength(1);
    }
  } finally {
    await service.stop();
  }
}, 300_000);
