import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUnits } from '../../src/domain/money.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { runCommand, runJson } from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';

describe('every error code of the specification, brought about in the sandbox', () => {
  let service: EndToEndService;

  beforeAll(async () => {
    service = await startEndToEndService();
  });
  afterAll(() => service?.stop());

  const create = (fields: Record<string, unknown>) => service.requestCreate(fields);
  const command = (...args: string[]) => runCommand(service.environment, ...args);

  it('provider_unavailable (502) while a provider is down, and it comes back', async () => {
    await command('sandbox', 'fault', 'provider', 'wert', '--down');
    expect(await create({ provider: 'wert' })).toMatchObject({
      status: 502,
      body: { code: 'provider_unavailable' },
    });
    expect((await create({ provider: 'moonpay' })).status).toBe(200);
    // So often that it is left alone for a moment.
    for (let count = 0; count < 5; count++) expect((await create({ provider: 'wert' })).status).toBe(502);
    await command('sandbox', 'fault', 'provider', 'wert', '--up');
    await waitFor(
      'the provider to be tried again',
      60_000,
      async () => (await create({ provider: 'wert' })).status === 200,
    );
  });

  it('provider_unavailable (502) while a provider is slow, without waiting for it', async () => {
    await command('sandbox', 'fault', 'provider', 'banxa', '--slow');
    const startedMs = performance.now();
    expect(await create({ provider: 'banxa' })).toMatchObject({
      status: 502,
      body: { code: 'provider_unavailable' },
    });
    // The service gives it three seconds, and it takes fifteen.
    expect(performance.now() - startedMs).toBeLessThan(14_000);
    await command('sandbox', 'fault', 'provider', 'banxa', '--up');
  });

  it('conversion_failed while the rates are down, for every currency but USD', async () => {
    await command('sandbox', 'fault', 'rates', '--down');
    expect(await create({ currency: 'EUR' })).toMatchObject({
      status: 400,
      body: { code: 'conversion_failed' },
    });
    expect((await create({ currency: 'USD' })).status).toBe(200);
    await command('sandbox', 'fault', 'rates', '--up');
    expect((await create({ currency: 'EUR' })).status).toBe(200);
  });

  it('provider_inactive for a provider that the operator switched off, with the next request', async () => {
    await command('provider', 'set', 'stripe', '--inactive');
    expect(await create({ provider: 'stripe' })).toMatchObject({
      status: 400,
      body: { code: 'provider_inactive' },
    });
    await command('provider', 'set', 'stripe', '--active');
    expect((await create({ provider: 'stripe' })).status).toBe(200);
  });

  it('below_minimum, naming provider, minimum and the given amount in USD', async () => {
    await command('provider', 'set', 'transak', '--minimum-usd', '33.50');
    const refused = await create({ provider: 'transak', amount: '10', currency: 'EUR' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'below_minimum' } });
    expect(refused.body['error']).toMatch(/Transak.*33\.50 USD.*10\.90 USD/);
  });

  it('currency_locked and provider_unknown', async () => {
    expect(await create({ provider: 'klarna' })).toMatchObject({
      status: 400,
      body: { code: 'currency_locked' },
    });
    expect((await create({ provider: 'klarna', currency: 'EUR' })).status).toBe(200);
    expect(await create({ provider: 'nobody' })).toMatchObject({
      status: 400,
      body: { code: 'provider_unknown' },
    });
  });

  it('a chain that is down delays a payment and loses nothing', async () => {
    const { body } = await create({ amount: '60' });
    const id = body.payment_id;
    await command('sandbox', 'pay', id);
    await command('sandbox', 'fault', 'chain', '--down');
    expect((await create({})).status).toBe(200);
    await command('sandbox', 'fault', 'chain', '--up');
    await waitFor(
      'the payment to be paid',
      40_000,
      async () => (await service.readStatus(`payment_id=${id}`))['status'] === 'paid',
    );
  });

  it.each([
    ['a small amount', { amount: '12.00' }],
    ['rupees', { amount: '1000.00', currency: 'INR' }],
  ])('`sandbox pay` pays %s at a provider that the page offers for it', async (_, asked) => {
    const id = (await create(asked)).body.payment_id;
    const paid = await runJson<{ provider: string }>(service.environment, 'sandbox', 'pay', id);
    expect(paid.provider).not.toBe('moonpay');
  });

  it.each([
    [{ amount: '0.05' }, '0.05'],
    [{ amount: '3', currency: 'INR' }, '0.03'],
  ])(
    '`sandbox pay` says of %j that no provider takes it, and from which amount one does',
    async (asked, given) => {
      const id = (await create(asked)).body.payment_id;
      const text = `No provider takes this amount: the lowest minimum is 1.00 USD; the amount given is ${given} USD.`;
      await expect(command('sandbox', 'pay', id)).rejects.toThrow(text);
    },
  );

  it('`sandbox pay` delivers half where the provider delivers less, and the amount that it is given', async () => {
    const payAtWert = async (...options: string[]) => {
      const id = (await create({ amount: '40' })).body.payment_id;
      const words = ['sandbox', 'pay', id, '--provider', 'wert', ...options];
      return runJson<{ usdc: string }>(service.environment, ...words);
    };
    const { usdc: whole } = await payAtWert();
    await command('sandbox', 'fault', 'provider', 'wert', '--less');
    const { usdc: half } = await payAtWert();
    expect(parseUnits(half)).toBe((parseUnits(whole) ?? 0n) / 2n);
    expect(await payAtWert('--usdc', '39.5')).toMatchObject({ usdc: '39.500000' });
    await command('sandbox', 'fault', 'provider', 'wert', '--up');
  });

  it('a provider that delivers less, late, twice or another token: what page and merchant are told', async () => {
    const told = { wert: 'less', coinbase: 'late', rampnetwork: 'twice', moonpay: 'wrong-token' } as const;
    const pay = async (provider: keyof typeof told) => {
      const id = (await create({ amount: '40' })).body.payment_id;
      await command('sandbox', 'fault', 'provider', provider, `--${told[provider]}`);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: service.url };
      const click = { method: 'POST', headers };
      const page = await fetch(`${service.url}/pay/${id}/providers/${provider}`, click);
      const body = new URLSearchParams({ card_number: '4242424242424242' });
      expect((await fetch(page.url, { method: 'POST', body })).status).toBe(200);
      return id;
    };
    const [wrong, late, less, twice] = await Promise.all([
      pay('moonpay'),
      pay('coinbase'),
      pay('wert'),
      pay('rampnetwork'),
    ]);
    const textOn = async (id: string) => (await fetch(`${service.url}/pay/${id}`)).text();
    const says = (id: string, text: string) =>
      waitFor(`"${text}"`, 60_000, async () => (await textOn(id)).includes(text));
    const statusOf = (id: string) => service.readStatus(`payment_id=${id}`);
    await says(twice, 'has received your payment');
    expect(await statusOf(twice)).toMatchObject({ status: 'paid', forward_status: 'completed' });
    await says(less, 'Your payment is incomplete');
    expect(await textOn(less)).toContain('How to pay the rest');
    // Only the provider says that it has taken something: whom to ask is on the page, and nothing is paid.
    for (const id of [wrong, late]) {
      await says(id, 'Payment approved');
      expect(await textOn(id)).toContain('Charged, but nothing appears here?');
    }
    for (const id of [less, wrong, late])
      expect(await statusOf(id)).toMatchObject({ status: 'unpaid', forward_status: 'pending' });
    const otherToken = async (id: string) =>
      (await runJson<{ other_token: string | null }>(service.environment, 'payment', 'show', id)).other_token;
    const named = await waitFor(
      'the other token',
      60_000,
      async () => (await otherToken(wrong)) ?? undefined,
    );
    expect(named).toMatch(/^The deposit address holds the token 0x\w{40}, which does not count as paid\./);
    const [, rescue = ''] = /run: (payment rescue \S+ --token 0x\w{40})$/.exec(named) ?? [];
    await command(...rescue.split(' '));
    await waitFor('the rescue', 60_000, async () => (await otherToken(wrong)) === null);
    expect(await otherToken(late)).toBeNull();
  }, 180_000);

  it('an account that is suspended, lacks a feature or a provider answers 403', async () => {
    const [demo] = await runJson<{ account_id: string }[]>(service.environment, 'account', 'list');
    const account = (demo as { account_id: string }).account_id;
    await command('account', 'update', account, '--disable', 'fee_pass_through');
    expect((await create({ passFeeToCustomer: true })).status).toBe(403);
    await command('account', 'update', account, '--providers', 'moonpay,wert');
    expect((await create({ provider: 'revolut' })).status).toBe(403);
    await command('account', 'update', account, '--suspend');
    expect((await create({})).status).toBe(403);
    await command(
      'account',
      'update',
      account,
      '--resume',
      '--providers',
      'all',
      '--enable',
      'fee_pass_through',
    );
    expect((await create({ passFeeToCustomer: true, provider: 'revolut' })).status).toBe(200);
  });
});
