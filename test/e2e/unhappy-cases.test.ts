import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUnits } from '../../src/payment/money.ts';
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
  const command = (words: string, ...more: string[]) => runCommand(service.environment, words, ...more);

  it.each([
    ['a small amount', { amount: '12.00' }],
    ['rupees', { amount: '1000.00', currency: 'INR' }],
  ])('`sandbox pay` pays %s at a provider that the page offers for it', async (_, asked) => {
    const id = (await create(asked)).body.payment_id;
    const paid = await runJson<{ provider: string }>(service.environment, 'sandbox pay', id);
    expect(paid.provider).not.toBe('moonpay');
  });

  it.each([
    [{ amount: '0.05' }, '1.00', '0.05'],
    // Banxa's limits, 20 of any currency.
    [{ amount: '3', currency: 'INR' }, '0.24', '0.03'],
  ])(
    '`sandbox pay` says of %j that no provider takes it, and from which amount one does',
    async (asked, lowest, given) => {
      const id = (await create(asked)).body.payment_id;
      const text = `No provider takes this amount: the lowest minimum is ${lowest} USD; the amount given is ${given} USD.`;
      await expect(command('sandbox pay', id)).rejects.toThrow(text);
    },
  );

  it('`sandbox pay` delivers half where the provider delivers less, and the amount that it is given', async () => {
    const payAtWert = async (...options: string[]) => {
      const id = (await create({ amount: '40' })).body.payment_id;
      const words = ['sandbox pay', id, '--provider', 'wert', ...options] as const;
      return runJson<{ usdc: string }>(service.environment, ...words);
    };
    const { usdc: whole } = await payAtWert();
    await command('sandbox fault provider wert --less');
    const { usdc: half } = await payAtWert();
    expect(parseUnits(half)).toBe((parseUnits(whole) ?? 0n) / 2n);
    expect(await payAtWert('--usdc', '39.5')).toMatchObject({ usdc: '39.500000' });
    await command('sandbox fault provider wert --up');
  });

  it('a provider that delivers less, late, twice or another token: what page and merchant are told', async () => {
    const told = { wert: 'less', coinbase: 'late', rampnetwork: 'twice', moonpay: 'wrong-token' } as const;
    const pay = async (provider: keyof typeof told) => {
      const id = (await create({ amount: '40' })).body.payment_id;
      await command(`sandbox fault provider ${provider} --${told[provider]}`);
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
    await says(less, 'Almost there: pay ');
    expect(await textOn(less)).toContain('How to pay the rest');
    // Only the provider says that it has taken something: the page waits, and nothing is paid.
    for (const id of [wrong, late]) {
      await says(id, 'is approved');
      expect(await textOn(id)).toContain('You can close this page.');
    }
    for (const id of [less, wrong, late])
      expect(await statusOf(id)).toMatchObject({ status: 'unpaid', forward_status: 'pending' });
    const otherToken = async (id: string) =>
      (await runJson<{ other_token: string | null }>(service.environment, 'payment show', id)).other_token;
    const named = await waitFor(
      'the other token',
      60_000,
      async () => (await otherToken(wrong)) ?? undefined,
    );
    expect(named).toMatch(/^The deposit address holds the token 0x\w{40}, which does not count as paid\./);
    const [, rescue = ''] = /run: (payment rescue \S+ --token 0x\w{40})$/.exec(named) ?? [];
    await command(rescue);
    await waitFor('the rescue', 60_000, async () => (await otherToken(wrong)) === null);
    expect(await otherToken(late)).toBeNull();
  }, 180_000);
});
