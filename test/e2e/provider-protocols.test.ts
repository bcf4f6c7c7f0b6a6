import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ProviderId, providerIds } from '../../src/domain/provider-catalog.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { runJson } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

let service: EndToEndService;
beforeAll(async () => {
  service = await startEndToEndService({ COUNTRY_HEADER: 'X-Country' });
});
afterAll(() => service?.stop());

/** What the service counted of a provider's webhooks. */
async function countWebhooks(provider: string, outcome: string): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${service.environment['ADMIN_PORT']}/metrics`)).text();
  const name = `card_checkout_provider_webhooks_total{provider="${provider}",outcome="${outcome}"} `;
  const line = metrics.split('\n').find((each) => each.startsWith(name));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

/** Whose webhooks tell of a provider's visits, where it has none of its own; null for one that tells nothing. */
const tellers: Partial<Record<ProviderId, ProviderId | null>> = {
  paypal: 'moonpay',
  klarna: 'banxa',
  cryptocom: null,
};

it.concurrent.each(providerIds)(
  'a payment goes from the API call to paid through the protocol of %s, and its webhooks arrive',
  async (provider) => {
    const { payment_id: paymentId, checkout_url: checkoutUrl } = await service.create({
      provider,
      currency: 'EUR',
      email: 'ada@shop.example',
    });
    const clicked = await fetch(`${service.url}/pay/${paymentId}/providers/${provider}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: service.url,
        'x-country': 'DE',
      },
    });
    expect(clicked.status).toBe(303);
    const paymentPage = await fetch(clicked.headers.get('location') ?? '', {
      headers: { referer: new URL('/', checkoutUrl).href },
    });
    expect(paymentPage.status).toBe(200);
    const body = new URLSearchParams({ card_number: '4242424242424242' });
    await fetch(paymentPage.url, { method: 'POST', body });

    await waitFor('the payment to be paid', 60_000, async () => {
      return (await service.readStatus(`payment_id=${paymentId}`))['status'] === 'paid';
    });
    const { [provider]: teller = provider } = tellers;
    if (teller === null) return;
    // Both news, and each of them at least once more.
    await waitFor('the webhooks', 60_000, async () => (await countWebhooks(teller, 'noted')) >= 2);
    for (const outcome of ['refused', 'unmatched', 'unknown_state', 'irrelevant'])
      expect(await countWebhooks(teller, outcome), outcome).toBe(0);
  },
  120_000,
);

interface Proof {
  readonly is_fine: boolean;
  readonly url: string;
  readonly altered_url: string;
  readonly facts: { readonly amount: string; readonly currency: string; readonly wallet: string };
  readonly evidence: string;
  readonly file: string;
}

interface Listed {
  readonly provider: string;
  readonly evidence: string;
}

interface Purchase {
  readonly payment_id: string;
  readonly amount: string;
  readonly purchase: unknown;
}

/** Stands in altered URLs. */
const FOREIGN_WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

it.concurrent.each(providerIds)(
  'provider prove tries %s, keeps the evidence, and never takes a simulator for the provider',
  async (provider) => {
    const folder = await mkdtemp(join(tmpdir(), 'card-checkout-fixtures-'));
    const prove = (...args: string[]) =>
      runJson<Proof>(service.environment, 'provider', 'prove', provider, ...args);
    const charge = ['--currency', 'EUR', '--country', 'DE'];
    const proof = await prove(...charge, '--ip', '81.2.69.142', '--fixtures', folder);
    expect(proof).toMatchObject({ is_fine: true, evidence: expect.stringMatching(/^simulated on /) });

    const open = (url: string) => fetch(url, { headers: { referer: 'http://localhost/' } });
    const page = await (await open(proof.url)).text();
    expect(page).toContain(`${proof.facts.amount} ${proof.facts.currency}`);
    expect(page).toContain(proof.facts.wallet);
    const altered = await open(proof.altered_url);
    expect(altered.status >= 400 || !(await altered.text()).includes(FOREIGN_WALLET)).toBe(true);
    expect(await prove('--confirm')).toMatchObject({
      evidence: expect.stringMatching(/^simulated on /),
      next: expect.stringContaining('does not enable the provider'),
    });

    const kept = await readFile(proof.file, 'utf8');
    expect(proof.file).toContain(join(service.environment['DATA_DIR'] ?? '?', 'evidence', `${provider}-`));
    expect(JSON.parse(kept)).toMatchObject({ provider, environment: 'simulated', country: 'DE' });
    const fixtures = await readFile(join(folder, `${provider}.json`), 'utf8');
    expect((JSON.parse(fixtures) as unknown[]).length).toBeGreaterThan(0);
    for (const text of [kept, fixtures]) expect(text).not.toMatch(/81\.2\.69\.142|[?&]\w+=/);
    const listed = await runJson<Listed[]>(service.environment, 'provider', 'list');
    expect(listed.find((each) => each.provider === provider)?.evidence).toMatch(/^simulated on /);
    await rm(folder, { recursive: true });
  },
  120_000,
);

it('provider prove creates no purchase above its limit, and records one that was paid', async () => {
  const prove = (...args: string[]) =>
    runJson<Purchase>(service.environment, 'provider', 'prove', 'wert', ...args);
  const [account] = await runJson<{ account_id: string }[]>(service.environment, 'account', 'list');
  const own = ['--wallet', FOREIGN_WALLET, '--default-callback', service.receiver.url];
  await runJson(service.environment, 'account', 'update', account?.account_id ?? '', ...own);
  const buy = ['--purchase', '--account', account?.account_id ?? ''];
  await expect(prove(...buy)).rejects.toThrow('--spend-up-to is required');
  await expect(prove(...buy, '--spend-up-to', '0.50')).rejects.toThrow('must be at least 1.10');
  await prove('--currency', 'EUR');
  const { payment_id: id, amount } = await prove(...buy, '--spend-up-to', '2');
  expect(amount).toBe('1.10 USD');
  await expect(prove('--payment', id)).rejects.toThrow('has no session at this provider');
  await runJson(service.environment, 'sandbox', 'pay', id, '--provider', 'wert');
  await waitFor('the payment to be paid', 60_000, async () => {
    return (await service.readStatus(`payment_id=${id}`))['status'] === 'paid';
  });
  expect((await prove('--payment', id)).purchase).toMatchObject({
    charged: '1.10 USD',
    delivered: expect.stringMatching(/^\d+\.\d{6}$/),
    transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    token: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    symbol: 'USDC',
    decimals: 6,
    native_usdc: false,
    paid_at: expect.stringMatching(/^20.*Z$/),
  });
}, 120_000);

it('the admin port answers nothing that was sent to another site’s name', async () => {
  const statusOf = (path: string, host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const at = { host: '127.0.0.1', port: service.environment['ADMIN_PORT'], path, headers: { host } };
      get(at, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    });
  const paths = ['/operator/sign-in', '/metrics'];
  for (const path of paths) expect([path, await statusOf(path, 'evil.example')]).toEqual([path, 400]);
  for (const path of paths) expect([path, await statusOf(path, 'localhost:3001')]).toEqual([path, 200]);
});
