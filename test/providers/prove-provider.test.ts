import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import { NATIVE_USDC, type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import { redactJson } from '../../src/platform/redact.ts';
import type { ProviderValues } from '../../src/providers/adapters/define-provider.ts';
import {
  confirmPage,
  FOREIGN_WALLET,
  recordPurchase,
  tryProvider,
} from '../../src/providers/prove-provider.ts';
import {
  createEvidenceFiles,
  type EvidenceStep,
  type ProviderEndpoint,
  type ProviderEvidence,
  proofOf,
} from '../../src/providers/provider-evidence.ts';
import type { VerifiedChain } from '../../src/settlement/chain/chain.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { serveRequests } from './serve-json.ts';
import { adapterWith, openFromCheckout, someSession, useStage } from './stage.ts';

const stage = useStage();

const NOW_MS = Date.UTC(2026, 10, 23, 4, 30);

function prove(provider: ProviderId, values: ProviderValues = {}) {
  return tryProvider({
    provider,
    adapter: stage.adapterOf(provider, { values }),
    amountCents: someSession.amountCents,
    currency: someSession.currency,
    country: provider === 'stripe' ? 'US' : 'DE',
    customerIp: '203.0.113.7',
    wallet: someSession.depositAddress,
    newPaymentId: createPaymentIdGenerator(Date.now),
    usdUnitsOf: async (cents, currency) => BigInt(cents) * (currency === 'EUR' ? 10_900n : 10_000n),
    returnUrl: someSession.returnUrl,
    nowMs: () => NOW_MS,
    pause: async () => {},
  });
}

const stepsOf = ({ steps }: ProviderEvidence, step: EvidenceStep['step']) =>
  steps.filter((each) => each.step === step);

describe('a trial', () => {
  it.each(providerIds)('of %s has quotes, a session, and an altered copy that is refused', async (id) => {
    const { evidence, facts, url, alteredUrl } = await prove(id);
    expect(evidence.steps.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    const quotes = stepsOf(evidence, 'quote');
    expect(quotes.find(({ detail }) => detail.startsWith('EUR: '))?.outcome).toBe('fine');
    for (const { detail } of quotes) expect(detail).toMatch(/^(USD|EUR|CAD|INR): /);
    expect(stepsOf(evidence, 'locks')).toHaveLength(1);
    expect(evidence).toMatchObject({ provider: id, environment: 'simulated', confirmedAtMs: null });

    const page = await openFromCheckout(url ?? '');
    expect(page.status).toBe(200);
    const text = await page.text();
    for (const fact of [`${facts.amount} ${facts.currency}`, facts.wallet]) expect(text).toContain(fact);
    expect(alteredUrl).toContain(FOREIGN_WALLET);
    const altered = await openFromCheckout(alteredUrl ?? '');
    expect(altered.status >= 400 || !(await altered.text()).includes(FOREIGN_WALLET)).toBe(true);
  });

  it('fails where the provider refuses the credentials, and says so', async () => {
    const { evidence, url } = await prove('banxa', { API_KEY: 'wrong' });
    expect(url).toBeNull();
    expect(stepsOf(evidence, 'session')).toEqual([
      { step: 'session', outcome: 'failed', detail: expect.stringContaining('rejected the credentials') },
    ]);
    expect(proofOf(evidence, evidence).text).toBe('failed on 2026-11-23');
  });

  it('names what the session repeats, and what only the page shows', async () => {
    const detailOf = async (id: ProviderId) => stepsOf((await prove(id)).evidence, 'locks')[0]?.detail;
    expect(await detailOf('moonpay')).toBe('The session confirms: wallet, amount, currency, asset, network.');
    expect(await detailOf('coinbase')).toBe(
      'The session confirms: currency, asset, network. Only the page shows: wallet, amount.',
    );
  });
});

describe('evidence', () => {
  it('contains no query string, token, IP or email address, and neither do the recorded answers', async () => {
    for (const id of providerIds) {
      const { evidence, answers, url } = await prove(id);
      const text = JSON.stringify([evidence, redactJson(answers)]);
      const values = Object.entries(stage.valuesOf(id)).filter(([name]) => /KEY|SECRET|TOKEN/.test(name));
      for (const [, value] of values) expect(text).not.toContain(value);
      for (const [name, value] of new URL(url ?? '').searchParams)
        if (/signature|token|session/i.test(name))
          expect([id, name, text.includes(value)]).toEqual([id, name, false]);
      expect(text).not.toMatch(/203\.0\.113\.7|@shop|\?\w+=/);
    }
  });

  it('redacts what a provider says in a refusal', async () => {
    const message = 'unknown shop ada@shop.example at 198.51.100.7, token abcdefgh1234567890abcdefgh';
    const server = await serveRequests(() => ({ quoteCurrencyAmount: message }));
    const { evidence } = await prove('moonpay', { BASE_URL: server.url });
    expect(JSON.stringify(evidence)).not.toMatch(/ada@|198\.51|abcdefgh1/);
  });

  it('records answers that another adapter takes for the same answers', async () => {
    const { evidence, answers } = await prove('moonpay');
    const recorded = redactJson(answers) as typeof answers;
    const server = await serveRequests(
      ({ path }) => recorded.find((each) => path.endsWith(each.path.slice(-20)))?.body ?? {},
    );
    const replayed = stage.adapterOf('moonpay', { values: { BASE_URL: server.url } });
    const { deliveryUnits } = await replayed.quote({ ...someSession, currency: 'USD' });
    expect(
      stepsOf(evidence, 'quote').some(({ detail }) => detail.includes(`${Number(deliveryUnits) / 1e6}`)),
    ).toBe(true);
  });

  it('is kept in dated files of which the newest counts, twenty for each provider', async () => {
    const dataDir = temporaryFolder();
    const store = createEvidenceFiles(dataDir);
    expect(await store.readEvidence('wert')).toBeNull();
    const { evidence } = await prove('wert');
    for (let run = 0; run < 22; run++) await store.writeEvidence({ ...evidence, atMs: NOW_MS + run });
    const files = await readdir(join(dataDir, 'evidence'));
    expect(files).toHaveLength(20);
    expect(files.sort().at(-1)).toBe('wert-2026-11-23T04-30-00.021Z.json');
    expect(await store.readEvidence('wert')).toMatchObject({ atMs: NOW_MS + 21, steps: evidence.steps });
    expect(await store.readEvidence('moonpay')).toBeNull();
    expect(await readFile(join(dataDir, 'evidence', files.at(-1) ?? ''), 'utf8')).toContain(
      stage.onramps.baseUrl,
    );
  });

  it.each(['', '{', 'null', '{"provider":"moonpay"}'])('that reads %j counts as none', async (text) => {
    const dataDir = temporaryFolder();
    await mkdir(join(dataDir, 'evidence'));
    await writeFile(join(dataDir, 'evidence', 'moonpay-2026-11-23T04-30-00.000Z.json'), text);
    expect(await createEvidenceFiles(dataDir).readEvidence('moonpay')).toBeNull();
  });

  it('is confirmed within two hours, and only where nothing failed', async () => {
    const store = createEvidenceFiles(temporaryFolder());
    const adapter = stage.adapterOf('wert');
    await expect(confirmPage(store, adapter, NOW_MS)).rejects.toThrow('Run `provider prove wert` first');
    const { evidence } = await prove('wert');
    await store.writeEvidence(evidence);
    expect(await confirmPage(store, adapter, NOW_MS + 1_000)).toMatchObject({
      confirmedAtMs: NOW_MS + 1_000,
    });
    await expect(confirmPage(store, adapter, NOW_MS + 3 * 3_600_000)).rejects.toThrow('over two hours old');
    const failed = { step: 'session', outcome: 'failed', detail: 'no' } as const;
    await store.writeEvidence({ ...evidence, steps: [failed] });
    await expect(confirmPage(store, adapter, NOW_MS)).rejects.toThrow('until each of its steps succeeds');
  });
});

describe('a purchase', () => {
  const payment = {
    status: 'paid',
    paidAtMs: 1,
    txidIn: '0x1',
    amountCents: 110,
    currency: 'USD',
    depositAddress: '0xd',
  };
  const deposit = { transactionHash: '0x1', blockNumber: 7 };
  const sessions = [{ provider: 'wert', progress: 'delivered' }];
  const view = { payment, sessions, observations: { deposits: [deposit] } } as unknown as PaymentView;

  function chainThatShows(transfers: readonly object[]): VerifiedChain {
    const readLogs = async ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }) => ({
      transfers: fromBlock === 7 && toBlock === 7 ? transfers : [],
    });
    return {
      reader: { withView: (use: (view: unknown) => Promise<unknown>) => use({ readLogs }) },
    } as unknown as VerifiedChain;
  }

  async function record(chain: VerifiedChain | null, token: string) {
    const store = createEvidenceFiles(temporaryFolder());
    await store.writeEvidence((await prove('wert')).evidence);
    return recordPurchase(store, stage.adapterOf('wert'), view, token, chain);
  }

  it('is recorded with the transfer that the chain shows, and its token', async () => {
    const chain = chainThatShows([{ transactionHash: '0x1', units: 1_050_000n }]);
    expect((await record(chain, NATIVE_USDC)).purchase).toEqual({
      paidAtMs: 1,
      charged: '1.10 USD',
      transaction: '0x1',
      delivered: '1.050000',
      token: NATIVE_USDC,
      isNativeUsdc: true,
      webhook: 'delivered',
    });
    expect((await record(chain, '0x2')).purchase?.isNativeUsdc).toBe(false);
  });

  it('is not recorded where the chain does not show the transfer, or is not there', async () => {
    const other = chainThatShows([{ transactionHash: '0x2', units: 1n }]);
    for (const chain of [other, null])
      await expect(record(chain, NATIVE_USDC)).rejects.toThrow('does not show the transfer');
  });
});

describe('a provider is proved', () => {
  const production: ProviderEndpoint = { environment: 'production', urls: ['https://api.example.com'] };
  const step = { step: 'session', outcome: 'fine', detail: '' } as const;
  const evidence: ProviderEvidence = {
    ...production,
    provider: 'wert',
    atMs: NOW_MS,
    charge: '50.00 USD',
    country: null,
    steps: [step],
    confirmedAtMs: NOW_MS,
    purchase: null,
  };
  const textOf = (changes: Partial<ProviderEvidence>, endpoint = production) =>
    proofOf({ ...evidence, ...changes }, endpoint);

  it('only by evidence of the same production hosts that the operator confirmed', () => {
    expect(textOf({})).toEqual({ isProved: true, text: 'proved on 2026-11-23' });
    const token = { transaction: '', token: '', isNativeUsdc: true };
    const purchase = { paidAtMs: 1, charged: '', delivered: '', ...token, webhook: null };
    expect(textOf({ purchase }).text).toBe('proved on 2026-11-23, with a purchase');
    const not = [
      textOf({ confirmedAtMs: null }),
      textOf({ steps: [step, { ...step, outcome: 'failed' }] }),
      textOf({ urls: ['http://127.0.0.1:1'] }),
      textOf({ environment: 'simulated' }),
      textOf({ environment: 'simulated' }, { ...production, environment: 'simulated' }),
      textOf({ environment: 'test' }, { ...production, environment: 'test' }),
      proofOf(evidence, undefined),
      proofOf(null, production),
    ];
    expect(not.map(({ isProved }) => isProved)).toEqual(not.map(() => false));
    expect(not[4]?.text).toBe('simulated on 2026-11-23');
  });

  it('at its own hosts, which each adapter names, and nowhere else', () => {
    for (const id of providerIds) {
      const { BASE_URL: _, ...values } = stage.valuesOf(id);
      const endpointOf = (changes: ProviderValues) => adapterWith(id, { ...values, ...changes }).endpoint;
      expect(endpointOf({})?.environment).toBe('production');
      for (const url of endpointOf({})?.urls ?? ['']) expect(url).toMatch(/^https:\/\/[a-z.-]+$/);
      expect(endpointOf({ ENVIRONMENT: 'sandbox' })?.environment).toBe('test');
      expect(endpointOf({ BASE_URL: 'http://127.0.0.1:1' })?.environment).toBe('simulated');
    }
  });
});
