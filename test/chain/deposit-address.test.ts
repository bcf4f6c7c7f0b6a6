import fc from 'fast-check';
import { expect, it } from 'vitest';
import { verifyDepositAddress } from '../../sdk/src/verify-deposit-address.ts';
import { checksumAddress, termsOf } from '../../src/payment/address.ts';
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

it('lets the SDK prove the address that the factory on the chain computes, and no other', async () => {
  const merchant = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
  const feeWallet = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
  const paymentId = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
  const data = encodeDepositOf(
    termsOf({ id: paymentId, payoutAddress: merchant, feeBasisPoints: 230, feeWallet }),
  );
  const word = await chain.anvil.rpc('eth_call', [{ to: chain.factory, data }, 'latest']);
  const payment = {
    payment_id: paymentId,
    polygon_address_in: checksumAddress(String(word).slice(-40)),
    fee_percent: 2.3,
  };
  const publication = {
    chain_id: chain.anvil.chainId,
    token: chain.token,
    factories: [{ address: chain.factory, implementation: chain.implementation, code_hash: '0x' }],
    fee_wallets: [feeWallet],
  };
  const proof = { factory: chain.factory, feeWallet, feeBasisPoints: 230 };
  expect(verifyDepositAddress(payment, { payoutAddress: merchant, publication })).toEqual(proof);
  expect(() => verifyDepositAddress(payment, { payoutAddress: feeWallet, publication })).toThrow();
});
