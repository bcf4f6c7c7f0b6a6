import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callServer } from '../../../src/cli/control-socket.ts';
import type { CreatedPayment, EndToEndService } from '../../support/e2e-service.ts';
import { createRandom } from '../../support/random.ts';

/** What was asked of the service, and what it answered otherwise than it should. */
export interface LoadResult {
  /** Requests by kind. */
  readonly asked: Map<LoadKind, number>;
  readonly mistakes: string[];
  /** Payments that were paid at the on-ramp. */
  readonly paid: readonly CreatedPayment[];
}

export type LoadKind = 'create' | 'status' | 'page' | 'payment';

/** How often each is asked, at most: the next one waits for the answer of the one before. */
const PER_SECOND: Readonly<Record<LoadKind, number>> = { create: 15, status: 30, page: 10, payment: 0.5 };
/** Payments that are looked at; older ones give way. */
const REMEMBERED = 1_000;
const SHOWN_MISTAKES = 100;

/** Creates, status reads, checkout pages and whole payments at a steady pace, until the signal ends it. */
export async function putUnderLoad(
  service: EndToEndService,
  seed: number,
  signal: AbortSignal,
): Promise<LoadResult> {
  const random = createRandom(seed);
  const known: CreatedPayment[] = [];
  const paid: CreatedPayment[] = [];
  const asked = new Map<LoadKind, number>();
  const mistakes: string[] = [];
  const socket = join(service.environment['DATA_DIR'] as string, 'control.sock');
  const anyKnown = () => known[Math.floor(random() * known.length)] as CreatedPayment;

  const kinds: Readonly<Record<LoadKind, () => Promise<void>>> = {
    async create() {
      const note = `soak ${Math.floor(random() * 2 ** 31)}`;
      known.push(await service.create({ amount: (1 + random() * 9_000).toFixed(2), note }));
      if (known.length > REMEMBERED) known.shift();
    },
    async status() {
      const { payment_id: id } = anyKnown();
      const status = await service.readStatus(`payment_id=${id}`);
      if (status['payment_id'] !== id) throw new Error(`the status of ${id} is another's`);
    },
    async page() {
      const response = await fetch(`${service.url}/pay/${anyKnown().payment_id}`);
      const text = await response.text();
      if (response.status !== 200 || !text.includes('<html'))
        throw new Error(`a page with ${response.status}`);
    },
    async payment() {
      const created = await service.create({ amount: '80.00' });
      await callServer(socket, 'sandbox pay', { payment: created.payment_id });
      paid.push(created);
    },
  };

  async function repeat(kind: LoadKind): Promise<void> {
    const intervalMs = 1_000 / PER_SECOND[kind];
    for (let nextMs = performance.now(); !signal.aborted; nextMs += intervalMs) {
      nextMs = Math.max(nextMs, performance.now() - intervalMs);
      await delay(Math.max(0, nextMs - performance.now()));
      asked.set(kind, (asked.get(kind) ?? 0) + 1);
      try {
        await kinds[kind]();
      } catch (error) {
        if (mistakes.length < SHOWN_MISTAKES) mistakes.push(`${kind}: ${String(error)}`);
      }
    }
  }

  await kinds.create();
  await Promise.all((Object.keys(kinds) as LoadKind[]).map(repeat));
  return { asked, mistakes, paid };
}
