import fc from 'fast-check';
import { getContractAddress, type Hex, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { createDepositAddressCalculator, termsOf } from '../../src/payment/address.ts';
import { DepositAddressError } from './errors.ts';
import { verifyDepositAddress } from './verify-deposit-address.ts';

const payoutAddress = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const feeWallets = [
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
] as const;
const factories = [
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
] as const;

const publication = {
  chain_id: 137,
  token: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  factories: factories.map((address) => ({
    address,
    implementation: getContractAddress({ from: address, nonce: 1n }),
    code_hash: `0x${'1f'.repeat(32)}`,
  })),
  fee_wallets: [...feeWallets],
};

/** Returns a payment as the service creates it. */
function makePayment(
  paymentId: string,
  {
    merchant = payoutAddress as Hex,
    feeBasisPoints = 250,
    factory = factories[0] as Hex,
    feeWallet = feeWallets[0] as Hex,
  } = {},
) {
  const calculate = createDepositAddressCalculator({
    chainId: 137,
    factory,
    implementation: getContractAddress({ from: factory, nonce: 1n }),
  });
  return {
    payment_id: paymentId,
    polygon_address_in: calculate(
      termsOf({ id: paymentId, payoutAddress: merchant, feeBasisPoints, feeWallet }),
    ) as string,
    fee_percent: feeBasisPoints / 100,
  };
}

describe('verifyDepositAddress', () => {
  it('takes the address of a direct payment and of one that was read, which have address_in alone', () => {
    const { polygon_address_in: address_in, ...direct } = makePayment('01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4');
    const terms = { payoutAddress, publication };
    expect(verifyDepositAddress({ ...direct, address_in }, terms)).toMatchObject({ feeBasisPoints: 250 });
    const other = { ...direct, address_in: feeWallets[0] as string };
    expect(() => verifyDepositAddress(other, terms)).toThrow(DepositAddressError);
  });

  it('agrees with the service for any payment, wallet and fee, with every published factory and fee wallet', () => {
    const address = fc.uint8Array({ minLength: 20, maxLength: 20 });
    const index = fc.integer({ min: 0, max: 1 });
    fc.assert(
      fc.property(
        fc.uuid(),
        address,
        fc.integer({ min: 0, max: 1000 }),
        index,
        index,
        (id, wallet, feeBasisPoints, at, feeAt) => {
          const merchant = toHex(wallet);
          const factory = factories[at as 0 | 1];
          const feeWallet = feeWallets[feeAt as 0 | 1];
          const payment = makePayment(id, { merchant, feeBasisPoints, factory, feeWallet });
          expect(verifyDepositAddress(payment, { payoutAddress: merchant, publication })).toEqual({
            factory,
            feeWallet,
            feeBasisPoints,
          });
        },
      ),
    );
  });

  const paymentId = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
  const payment = makePayment(paymentId);
  const terms = { payoutAddress, publication };

  it.each([
    ['pays another merchant', makePayment(paymentId, { merchant: factories[1] }), terms],
    ['is of another payment', { ...payment, payment_id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f5' }, terms],
    [
      'takes a higher fee than it says',
      { ...makePayment(paymentId, { feeBasisPoints: 1000 }), fee_percent: 2.5 },
      terms,
    ],
    ['pays the fee to somebody else', makePayment(paymentId, { feeWallet: factories[1] }), terms],
    ['is of a factory that is not published', makePayment(paymentId, { factory: feeWallets[0] }), terms],
    ['is an address of its own', { ...payment, polygon_address_in: feeWallets[0] }, terms],
    ['is none', { ...payment, polygon_address_in: '0x' }, terms],
    ['takes more than was agreed', payment, { ...terms, maximumFeePercent: 2 }],
    [
      'takes more than the service ever does, where no maximum was agreed',
      makePayment(paymentId, { feeBasisPoints: 1001 }),
      terms,
    ],
    ['takes everything', makePayment(paymentId, { feeBasisPoints: 10_000 }), terms],
    ['has a fee that is no number', { ...payment, fee_percent: Number.NaN }, terms],
    ['belongs to another chain', payment, { ...terms, publication: { ...publication, chain_id: 1 } }],
    [
      'belongs to a factory that clones something else',
      payment,
      {
        ...terms,
        publication: {
          ...publication,
          factories: publication.factories.map((factory) => ({ ...factory, implementation: feeWallets[1] })),
        },
      },
    ],
    [
      'is looked for in an endless list',
      payment,
      { ...terms, publication: { ...publication, fee_wallets: new Array(1000).fill(feeWallets[1]) } },
    ],
  ])('refuses an address that %s', (_, wrong, wrongTerms) => {
    expect(() => verifyDepositAddress(wrong, wrongTerms)).toThrow(DepositAddressError);
  });

  it('accepts a higher fee only where it was agreed to', () => {
    const dear = makePayment(paymentId, { feeBasisPoints: 1_500 });
    expect(verifyDepositAddress(dear, { ...terms, maximumFeePercent: 15 }).feeBasisPoints).toBe(1_500);
  });

  it('takes the addresses in any case', () => {
    const lower = { ...payment, polygon_address_in: payment.polygon_address_in.toLowerCase() };
    expect(
      verifyDepositAddress(lower, { ...terms, payoutAddress: payoutAddress.toLowerCase() }).feeBasisPoints,
    ).toBe(250);
  });
});
