import { expect, it } from 'vitest';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { type RebuildContext, rebuildPayment } from './rebuild-payment.ts';

const USDC = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';

it('stores nothing of terms that two hosts do not confirm, so that the right ones can follow', async () => {
  const stored: Payment[] = [];
  const settlement = { chainId: 137, factory: USDC, implementation: USDC, token: USDC, feeWallet: USDC };
  const context = {
    payments: {
      viewPayment: async () => null,
      createPayment: async (payment: Payment) => void stored.push(payment),
    },
    observations: { readCursor: async () => ({ number: 10, hash: '0x1' }) },
    settlements: { listSettlements: async () => [settlement] },
    chain: {
      // One host says that every address holds money.
      sweepBalances: async (addresses: readonly string[]) => addresses.map(() => 5_000_000n),
      reader: { withView: () => Promise.reject(new Error('two hosts do not show it')) },
    },
    tokenFingerprint: 'abcdef',
    nowMs: Date.now,
  } as unknown as RebuildContext;
  const id = '019a9d5a-0000-7000-8000-000000000000' as PaymentId;
  const lost = { id, accountId: 'acc_1', payoutAddress: USDC, feeBasisPoints: 250 } as const;
  await expect(rebuildPayment(context, lost)).rejects.toThrow('two hosts do not show it');
  expect(stored).toEqual([]);
});
