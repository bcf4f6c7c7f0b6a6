import fc from 'fast-check';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { parseTransaction, serializeTransaction } from 'viem/utils';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRelayer } from '../../src/settlement/chain/relayer.ts';
import { openSigner, type UnsignedTransaction } from '../../src/settlement/chain/signer.ts';
import { anvilKeys, startAnvil } from '../support/anvil.ts';
import { type SignerMood, startTransactionSigner } from '../support/transaction-signer.ts';

const CHAIN_ID = 137;
const KEY = anvilKeys[1];
const OTHER_KEY = anvilKeys[2];
const [address, other] = [KEY, OTHER_KEY].map(privateKeyToAddress) as [Hex, Hex];
const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;

type Kind = Parameters<typeof startTransactionSigner>[0];

/** A signer with both keys, and the relayer of the first one that signs through it. */
async function open({ kind = 'web3signer', chainId = CHAIN_ID }: { kind?: Kind; chainId?: number } = {}) {
  const server = await startTransactionSigner(kind, chainId, [KEY, OTHER_KEY]);
  onTestFinished(() => server.stop());
  const at = (change: (url: URL) => void = () => {}, timeoutMs = 1_000) => {
    const url = new URL(server.url);
    change(url);
    const signer = openSigner({ address, signerUrl: url.href }, { timeoutMs });
    return createRelayer({ endpoints: [], chainId: CHAIN_ID, signer });
  };
  return { server, at, relayer: at() };
}

const release: UnsignedTransaction = {
  type: 'eip1559',
  chainId: CHAIN_ID,
  nonce: 7,
  gas: 200_000n,
  maxFeePerGas: 90n * 10n ** 9n,
  maxPriorityFeePerGas: 25n * 10n ** 9n,
  value: 0n,
  to: other,
  data: '0x1234',
};

describe.each(['web3signer', 'clef'] as const)('a signer that speaks as %s', (kind) => {
  it('signs a release, a deployment and the check as the key itself would', async () => {
    const { server, relayer } = await open({ kind });
    const signer = openSigner({ address, signerUrl: server.url }, {});
    const { to: _, ...deployment } = release;
    for (const transaction of [release, { ...deployment, data: '0x6000' } as const])
      expect(await signer.signTransaction(transaction)).toBe(
        await openSigner(KEY).signTransaction(transaction),
      );
    server.mood = async (asked) => ({ raw: await server.sign(asked) });
    await relayer.checkSigner();
    expect(relayer.signerFailure()).toBeNull();
  });

  it('signs two at once from the first request on', async () => {
    const { relayer } = await open({ kind });
    await Promise.all([relayer.checkSigner(), relayer.checkSigner()]);
    expect(relayer.signerFailure()).toBeNull();
  });

  it('is refused for another chain, and what it refuses is said in its words', async () => {
    const { relayer } = await open({ kind, chainId: 80_002 });
    const words = kind === 'clef' ? /refuses to sign.*requested chainid/ : /another transaction.*\(chainId\)/;
    await expect(relayer.checkSigner()).rejects.toThrow(words);
    expect(relayer.signerFailure()).toMatch(words);
  });
});

it('signs through the `eth_signTransaction` of a node that others wrote', async () => {
  const node = await startAnvil({ chainId: CHAIN_ID });
  onTestFinished(() => node.stop());
  const signer = openSigner({ address, signerUrl: node.url });
  const { to: _, ...deployment } = release;
  for (const transaction of [release, { ...deployment, data: '0x6000' } as const])
    expect(await signer.signTransaction(transaction)).toBe(
      await openSigner(KEY).signTransaction(transaction),
    );
  await createRelayer({ endpoints: [], chainId: CHAIN_ID, signer }).checkSigner();
});

const { sign } = await startUnused();

/** Only its `sign` is used. */
async function startUnused() {
  const server = await startTransactionSigner('web3signer', CHAIN_ID, [KEY, OTHER_KEY]);
  await server.stop();
  return server;
}

const lies: readonly (readonly [string, SignerMood, RegExp])[] = [
  ['a chain', (asked) => sign({ ...asked, chainId: 1 }), /\(chainId\)/],
  ['a maximum fee', (asked) => sign({ ...asked, maxFeePerGas: 10n ** 12n }), /\(maxFeePerGas\)/],
  ['a value', (asked) => sign({ ...asked, value: 1n }), /\(value\)/],
  ['a recipient', (asked) => sign({ ...asked, to: address }), /\(to\)/],
  [
    'an access list',
    (asked) => sign({ ...asked, accessList: [{ address: other, storageKeys: [] }] } as typeof asked),
    /\(accessList\)/,
  ],
  ['a key', (asked) => sign(asked, other), /the signature of 0x3C44/],
  ['a high s', (asked) => sign(asked).then(withHighS), /whose s is high/],
  ['a cut-off answer', (asked) => sign(asked).then((raw) => raw.slice(0, -2)), /not a signed transaction/],
  ['no text', () => ({ raw: { toLowerCase: 1 } }), /not a signed transaction/],
  ['an unsigned transaction', () => serializeTransaction(release), /not a signed transaction/],
];

function withHighS(raw: Hex): Hex {
  const { r, s, yParity, v: _, ...transaction } = parseTransaction(raw as `0x02${string}`);
  const high = `0x${(ORDER - BigInt(s as Hex)).toString(16)}` as const;
  return serializeTransaction(transaction, { r: r as Hex, s: high, yParity: 1 - (yParity as number) });
}

it.each(lies)('%s of its own, instead of what was asked for, is not taken', async (_, mood, words) => {
  const { server } = await open();
  server.mood = mood;
  const signer = openSigner({ address, signerUrl: server.url }, {});
  await expect(signer.signTransaction(release)).rejects.toThrow(words);
  server.mood = null;
  expect(await signer.signTransaction(release)).toMatch(/^0x02/);
});

it('whatever it changes in whatever transaction is not taken', async () => {
  const { server } = await open();
  const signer = openSigner({ address, signerUrl: server.url }, {});
  const number = fc.bigInt({ min: 0n, max: 2n ** 64n });
  const transactions = fc.record({
    nonce: fc.nat(),
    gas: number,
    data: fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
    maxPriorityFeePerGas: number,
  });
  await fc.assert(
    fc.asyncProperty(transactions, transactions, async (one, changed) => {
      const asked = { ...release, ...one, maxFeePerGas: 2n ** 65n };
      const raw = await openSigner(KEY).signTransaction(asked);
      server.mood = null;
      expect(await signer.signTransaction(asked)).toBe(raw);
      server.mood = (request) => server.sign({ ...request, ...changed });
      const altered = await openSigner(KEY).signTransaction({ ...asked, ...changed });
      const answer = signer.signTransaction(asked);
      if (altered === raw) expect(await answer).toBe(raw);
      else await expect(answer).rejects.toThrow('another transaction than requested');
    }),
    { numRuns: 100 },
  );
});

describe('a signer that does not sign', () => {
  it('is waited for no longer than the limit, and works again without a restart', async () => {
    const { server, at } = await open();
    const relayer = at(undefined, 200);
    server.mood = () => null;
    await expect(relayer.checkSigner()).rejects.toThrow(/does not answer: start it.*within 200 ms/);
    await server.stop();
    await expect(relayer.checkSigner()).rejects.toThrow(/does not answer: start it.*ECONNREFUSED/);
    expect(relayer.signerFailure()).toContain('RELAYER_SIGNER_URL');
    server.mood = null;
    await server.start();
    await relayer.checkSigner();
    expect(relayer.signerFailure()).toBeNull();
  });

  it.each([
    ['relayer', `Basic ${btoa('relayer:open sesame')}`],
    ['bearer', 'Bearer open sesame'],
  ])('is asked with the login of its URL for %s, which no text repeats', async (user, header) => {
    const { server, at } = await open();
    const relayer = at((url) => {
      [url.username, url.password, url.pathname] = [user, 'open sesame', '/token-of-path'];
    });
    await relayer.checkSigner();
    expect(server.authorization).toBe(header);
    server.mood = () => {
      throw new Error(`${header} of ${user}:open sesame at /token-of-path may not sign`);
    };
    const failure = await relayer.checkSigner().catch((error: unknown) => error);
    for (const secret of ['sesame', btoa('relayer:open sesame'), 'token-of-path'])
      expect(String((failure as Error).stack) + relayer.signerFailure()).not.toContain(secret);
    expect(relayer.signerFailure()).toMatch(/refuses to sign.*may not sign/);
  });
});
