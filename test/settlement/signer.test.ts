import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { toHex } from 'viem/utils';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Address } from '../../src/payment/address.ts';
import { SignerError } from '../../src/settlement/chain/chain.ts';
import { anvilKeys } from '../support/anvil.ts';
import { type SignerMood, startTransactionSigner } from '../support/transaction-signer.ts';
import { CrashError, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement();
const NEW_KEY: Hex = `0x${'8'.repeat(64)}`;
const LAST_KEY: Hex = `0x${'9'.repeat(64)}`;
let signer: Awaited<ReturnType<typeof startTransactionSigner>>;

beforeEach(async () => {
  signer = await startTransactionSigner('web3signer', chain.anvil.chainId, [anvilKeys[1], NEW_KEY, LAST_KEY]);
  for (const key of [NEW_KEY, LAST_KEY])
    await chain.anvil.rpc('anvil_setBalance', [privateKeyToAddress(key), toHex(10n ** 20n)]);
  return () => signer.stop();
});

/** The process starts again and signs at the signer, for the address of this key. */
const signAt = (key: Hex) =>
  settlement.crash({ address: privateKeyToAddress(key) as Address, signerUrl: signer.url });

const faults: readonly (readonly [string, SignerMood])[] = [
  ['is silent', () => null],
  [
    'refuses',
    () => {
      throw new Error('No unlocked account matches the Sender');
    },
  ],
  ['signs another nonce', (asked) => signer.sign({ ...asked, nonce: asked.nonce + 1 })],
  ['signs with another key', (asked) => signer.sign(asked, privateKeyToAddress(NEW_KEY))],
];

describe.each(faults)('while the signer %s', (_, mood) => {
  it('releases wait, nothing is sent, and they go on by themselves, each once', async () => {
    await signAt(anvilKeys[1]);
    const payments = [await settlement.createWithDeposit(), await settlement.createWithDeposit()];
    const sent: string[] = [];
    settlement.faults.broadcast = async (raw) => void sent.push(raw);
    signer.mood = mood;
    for (let pass = 0; pass < 2; pass++) {
      await expect(settlement.relay()).rejects.toThrow(SignerError);
      settlement.advance(30_000);
    }
    expect([sent, await settlement.openBatches()]).toEqual([[], []]);
    expect(settlement.relayer.signerFailure()).toMatch(/^the signer /);
    signer.mood = null;
    settlement.faults.broadcast = null;
    await settlement.settleDown();
    await settlement.expectPaidOnce(...payments);
  });

  it('a release that it signed before is sent and followed to its end', async () => {
    await signAt(anvilKeys[1]);
    const payment = await settlement.createWithDeposit();
    await settlement.relay();
    const { attempts } = await settlement.openBatch();
    await settlement.dropWaiting();
    signer.mood = mood;
    const quote = await settlement.relayer.quoteFees();
    settlement.faults.fees = { ...quote, maxFeePerGas: quote.maxFeePerGas * 2n };
    settlement.advance(15_000);
    // Its fees are to be raised, after the first form was sent again.
    await expect(settlement.relay()).rejects.toThrow(SignerError);
    await settlement.mineAndWatch(3);
    expect(await settlement.relay()).toBe('resolved');
    expect((await settlement.expectPaidOnce(payment)).txidOut).toBe(attempts[0]?.hash);
  });
});

describe('a rotation with a release that was signed and reached no node', () => {
  it.each([
    ['from a key to the signer', () => settlement.crash(anvilKeys[1]), () => signAt(NEW_KEY)],
    ['to another address of the signer', () => signAt(NEW_KEY), () => signAt(LAST_KEY)],
    ['back to a key', () => signAt(NEW_KEY), () => settlement.crash(anvilKeys[1])],
    ['of the same key into the signer', () => settlement.crash(anvilKeys[1]), () => signAt(anvilKeys[1])],
  ])('%s sends it as it is, and releases the next one', async (_, start, rotate) => {
    await start();
    const payment = await settlement.createWithDeposit();
    settlement.faults.broadcast = () => Promise.reject(new CrashError());
    await expect(settlement.relay()).rejects.toThrow(CrashError);
    settlement.faults.broadcast = null;
    const { relayer: before, attempts } = await settlement.openBatch();
    await rotate();
    const next = await settlement.createWithDeposit();
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment, next);
    expect((await settlement.read(payment)).txidOut).toBe(attempts[0]?.hash);
    const { from } = (await chain.anvil.rpc('eth_getTransactionByHash', [
      (await settlement.read(next)).txidOut,
    ])) as { from: string };
    expect(from).toBe(settlement.relayer.address.toLowerCase());
    expect(before === settlement.relayer.address).toBe(settlement.incidents.length === 0);
  });
});
