import type { Store } from '../../../src/app/store/store.ts';
import { verifyPayments } from '../../../src/cli/verify/verify-payments.ts';
import type { VerifiedChain } from '../../../src/settlement/chain/chain.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** What `card-checkout verify` does, once everything is at rest: one case for the book and one for each payment. */
export async function verifyAfter(
  { recorder, payments, time }: SimulatedWorld,
  raw: Store,
  chain: VerifiedChain,
): Promise<void> {
  const report = await verifyPayments({ ...raw, chain, nowMs: () => time.trueMs, pause: async () => {} });
  for (const subject of [null, ...payments.map(({ id }) => id)]) {
    const found = report.discrepancies.filter(({ paymentId }) => paymentId === subject);
    recorder.expect('verified', found.length === 0, () => JSON.stringify(found));
  }
  recorder.expect(
    'madeOnce',
    report.payments === payments.length,
    () => `${report.payments} payments, ${payments.length} were acknowledged`,
  );
}
