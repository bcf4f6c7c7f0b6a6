import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checksumAddress } from '../../src/payment/address.ts';
import { encodeDepositOf } from '../../src/settlement/chain/read-logs.ts';
import { useLocalChain } from './use-chain.ts';

const chain = useLocalChain();

function hexOf(bytes: number) {
  return fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => Buffer.from(array).toString('hex'));
}

const address = hexOf(20).map(checksumAddress);
const merchant = address.filter((candidate) => BigInt(candidate) !== 0n);

const terms = fc.record({
  merchant,
  feeBasisPoints: fc.oneof(fc.constantFrom(0, 1, 10_000), fc.integer({ min: 0, max: 10_000 })),
  feeWallet: address,
  reference: hexOf(32).map((digits) => `0x${digits}` as const),
});

it('computes for any terms the deposit address that the factory computes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(terms, { minLength: 40, maxLength: 40 }), async (manyTerms) => {
      const calls = manyTerms.map((each) => ({
        method: 'eth_call' as const,
        params: [{ to: chain.factory, data: encodeDepositOf(each) }, 'latest'],
      }));
      const answers = await chain.endpoints[0]?.rpc.callBatch(calls);
      const onChain = answers?.map((answer) => checksumAddress(String(answer).slice(26)));
      expect(manyTerms.map(chain.depositOf)).toEqual(onChain);
    }),
    { numRuns: 10 },
  );
});
