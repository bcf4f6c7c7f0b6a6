import { expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import { type ApiService, useFreshApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api));

type Answer = string;
/** One violation: what brings it about, and the answer it alone gets. */
interface Violation {
  readonly answer: Answer;
  readonly request?: object;
  readonly headers?: Record<string, string>;
  readonly arrange?: () => Promise<unknown> | undefined;
}

/** In the order of the design. All of them at once can be brought about for the provider klarna. */
const violations: Record<string, Violation> = {
  key: { answer: '401', headers: { 'x-api-key': 'service_live_wrong' } },
  rate: {
    answer: '429',
    arrange: async () => {
      for (let index = 0; index < 60; index++) await service.post('x', { 'content-type': 'text/plain' });
    },
  },
  form: { answer: '400 form', request: { note: '' } },
  replay: {
    answer: '409',
    headers: { 'idempotency-key': 'used' },
    arrange: async () => {
      const used = await service.post({ ...validRequest, amount: '77.00' }, { 'idempotency-key': 'used' });
      expect(used.statusCode).toBe(200);
    },
  },
  feature: {
    answer: '403 account',
    arrange: () => service.store.accounts.updateAccount(service.account.id, { suspended: true }),
  },
  unknown: { answer: '400 provider_unknown', request: { provider: 'nobody' } },
  notEnabled: {
    answer: '403 provider',
    arrange: () => service.store.accounts.updateAccount(service.account.id, { providers: ['wert'] }),
  },
  currency: { answer: '400 currency_locked', request: { currency: 'USD' } },
  inactive: {
    answer: '400 provider_inactive',
    arrange: () => service.store.providers.writeProviderSettings('klarna', { active: false }),
  },
  conversion: {
    answer: '400 conversion_failed',
    arrange: () => {
      service.world.rates = {
        usdRate: () => {
          throw new ServiceError('conversion_failed');
        },
      };
      return undefined;
    },
  },
  minimum: { answer: '400 below_minimum', request: { amount: '1.00' } },
  unavailable: {
    answer: '502 provider_unavailable',
    arrange: () => {
      service.world.quote = async () => {
        throw new ServiceError('provider_unavailable');
      };
      return undefined;
    },
  },
};

const names = Object.keys(violations);
const pairs = names.flatMap((first, index) =>
  names.slice(index + 1).map((second) => [first, second] as const),
);

/** Brings the violations about, in an order in which one does not hinder the next. */
async function answerTo(chosen: readonly string[]): Promise<Answer> {
  const list = chosen.map((name) => violations[name] as Violation);
  // A used key and a spent limit need an account that still works.
  for (const name of ['replay', ...names.filter((other) => other !== 'replay')]) {
    if (chosen.includes(name)) await violations[name]?.arrange?.();
  }
  const response = await service.post(
    Object.assign(
      { ...validRequest, provider: 'klarna', currency: 'EUR' },
      ...list.map(({ request }) => request),
    ),
    Object.assign({}, ...list.map(({ headers }) => headers)),
  );
  const { code, error } = response.json();
  if (response.statusCode === 403) return error.includes('suspended') ? '403 account' : '403 provider';
  if (response.statusCode === 400) return `400 ${code ?? 'form'}`;
  return code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`;
}

it.each(names)('meets the violation "%s" alone', async (name) => {
  expect(await answerTo([name])).toBe(violations[name]?.answer);
});

// An unknown provider is never klarna, so what is wrong with klarna cannot be wrong at the same time.
it.each(pairs)('answers "%s" before "%s"', async (first, second) => {
  expect(await answerTo([first, second])).toBe(violations[first]?.answer);
});

it('judges the address of the service itself and the total with fees as form, before a replay', async () => {
  await violations['replay']?.arrange?.();
  const response = await service.post(
    { ...validRequest, amount: '9999.00', passFeeToCustomer: true },
    { 'idempotency-key': 'used' },
  );
  expect(response.statusCode).toBe(400);
});

it('reads no body before the key is judged', async () => {
  const response = await service.post('x'.repeat(20_000), {
    'x-api-key': 'no',
    'content-type': 'text/plain',
  });
  expect(response.statusCode).toBe(401);
});
