import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../payment/errors.ts';
import { DeclinedRequestError, ProviderBusyError, readRetryAfterSeconds } from './adapters/provider-http.ts';
import { withCircuitBreaker } from './circuit-breaker.ts';
import type { ProviderAdapter, Quote, QuoteRequest, SessionRequest } from './provider.ts';

const OPEN_MS = 30_000;
const request: QuoteRequest = { amountCents: 1000, currency: 'USD', usdUnits: 10_000_000n };
const quote: Quote = { chargedCents: 10_00, deliveryUnits: null, minimumUsdCents: null };

let clockMs: number;
let asked: number;
let payments: number;
let answer: () => Promise<Quote>;
let adapter: ProviderAdapter;

const down = async () => {
  throw new ServiceError('provider_unavailable');
};
const busyFor = (retryAfterSeconds: number) => async () => {
  const cause = new ProviderBusyError(retryAfterSeconds);
  throw new ServiceError('provider_unavailable', undefined, { retryAfterSeconds, cause });
};
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'answer',
    (error: ServiceError) => error.errorName,
  );
/** Requests a quote for a new amount, so that each call counts as another payment. */
const ask = () => outcomeOf(adapter.quote({ ...request, amountCents: 10_00 + payments++ }));
const visit = (paymentId = String(payments++)) =>
  outcomeOf(adapter.startSession({ ...request, paymentId } as SessionRequest));
async function askTimes(times: number): Promise<string[]> {
  const outcomes = [];
  for (let index = 0; index < times; index++) outcomes.push(await ask());
  return outcomes;
}

function breakAround(provider: Omit<ProviderAdapter, 'id'>): void {
  const clock = () => clockMs;
  adapter = withCircuitBreaker(
    { id: 'wert', ...provider },
    { monotonicMs: clock, nowMs: clock, openMs: OPEN_MS },
  );
}

beforeEach(() => {
  clockMs = 1_000_000;
  asked = 0;
  payments = 0;
  answer = async () => quote;
  const count = () => {
    asked++;
    return answer();
  };
  breakAround({ quote: count, startSession: () => count() as never });
});

describe('a circuit breaker', () => {
  it('opens after five failures in a row, and then nobody is asked', async () => {
    answer = down;
    await askTimes(5);
    expect(asked).toBe(5);
    expect(await askTimes(3)).toEqual(Array(3).fill('provider_unavailable'));
    expect(adapter.isSkipped?.()).toBe(true);
    await expect(adapter.quote(request)).rejects.toMatchObject({
      errorName: 'provider_unavailable',
      cause: new Error('wert failed 5 times in a row; its circuit breaker is open'),
    });
    expect(asked).toBe(5);
    expect(adapter.health?.()).toMatchObject({ isCircuitOpen: true, failuresInARow: 5 });
  });

  it('takes a request that was declined for an answer: who asks for what is not sold closes it for nobody', async () => {
    const cause = new DeclinedRequestError('wert answered 400');
    answer = () => Promise.reject(new ServiceError('provider_unavailable', undefined, { cause }));
    await askTimes(20);
    expect(asked).toBe(20);
  });

  describe('for a provider that answers 429', () => {
    it('never opens, and calls it no more until the time that the answer names', async () => {
      answer = busyFor(7);
      for (let round = 1; round <= 20; round++) {
        await Promise.all([ask(), ask()]);
        expect(asked).toBe(2 * round);
        clockMs += 6_999;
        await expect(adapter.quote(request)).rejects.toMatchObject({
          errorName: 'provider_unavailable',
          retryAfterSeconds: 1,
        });
        expect(asked).toBe(2 * round);
        clockMs += 1;
      }
      expect(adapter.health?.()).toMatchObject({ isCircuitOpen: false, failuresInARow: 0 });
      answer = async () => quote;
      expect(await ask()).toBe('answer');
    });

    it('keeps no click from a provider whose quotes are asked for too often', async () => {
      answer = busyFor(30);
      await ask();
      answer = async () => quote;
      expect(await ask()).toBe('provider_unavailable');
      expect(await visit()).toBe('answer');
    });
  });

  it('counts catalogs and failing ones, without taking quotes or clicks from anybody', async () => {
    const outcomes: string[] = [];
    const failing = {
      quote: async () => quote,
      startSession: async () => quote as never,
      readCatalog: () => down() as never,
    };
    adapter = withCircuitBreaker(
      { id: 'wert', ...failing },
      {
        monotonicMs: () => clockMs,
        nowMs: () => clockMs,
        openMs: OPEN_MS,
        observe: (_, outcome) => outcomes.push(outcome),
      },
    );
    const read = () =>
      outcomeOf(adapter.readCatalog?.({ ...request, accountId: String(payments++) }) as Promise<unknown>);
    for (let count = 0; count < 7; count++) expect(await read()).toBe('provider_unavailable');
    expect(outcomes).toEqual([...Array(5).fill('failed'), 'circuit_open', 'circuit_open']);
    expect([await ask(), await visit()]).toEqual(['answer', 'answer']);
    expect(adapter.health?.()).toMatchObject({ isCircuitOpen: false });
  });

  it('begins anew with each answer', async () => {
    answer = down;
    await askTimes(4);
    answer = async () => quote;
    expect(await ask()).toBe('answer');
    answer = down;
    await askTimes(4);
    expect(adapter.health?.()).toMatchObject({ isCircuitOpen: false });
    expect(await askTimes(3)).toHaveLength(3);
    expect(asked).toBe(10);
  });

  it('keeps no click from a provider whose quotes fail, however often pages ask for them', async () => {
    answer = down;
    await askTimes(50);
    expect(asked).toBe(5);
    answer = async () => quote;
    expect(await visit()).toBe('answer');
    expect(asked).toBe(6);
    // A successful session does not close the quote circuit, which waits for a trial of its own.
    expect(await ask()).toBe('provider_unavailable');
    clockMs += OPEN_MS;
    expect(await ask()).toBe('answer');
  });

  it('asks for no quotes while visits are left alone, and for both again when a visit may be tried', async () => {
    answer = down;
    for (let count = 0; count < 7; count++) expect(await visit()).toBe('provider_unavailable');
    expect(asked).toBe(5);
    answer = async () => quote;
    expect(await ask()).toBe('provider_unavailable');
    expect(asked).toBe(5);
    expect(adapter.isSkipped?.()).toBe(true);
    clockMs += OPEN_MS;
    // The provider is offered again, because only a customer's click can start the trial.
    expect(adapter.isSkipped?.()).toBe(false);
    // Quotes neither use up the session trial nor close the session circuit.
    expect(await askTimes(3)).toEqual(Array(3).fill('answer'));
    answer = down;
    expect(await visit()).toBe('provider_unavailable');
    answer = async () => quote;
    expect(await ask()).toBe('provider_unavailable');
    clockMs += OPEN_MS;
    expect(await visit()).toBe('answer');
    expect(await ask()).toBe('answer');
    expect(adapter.health?.()).toMatchObject({ isCircuitOpen: false, failuresInARow: 0 });
  });

  it.each([
    ['a refusal for an answer', new ServiceError('below_minimum'), 20, 'below_minimum'],
    ['an unexpected error for a failure', new TypeError('a defect'), 5, 'provider_unavailable'],
  ])('takes %s', async (_what, error, calls, last) => {
    answer = () => Promise.reject(error);
    expect((await askTimes(20)).at(-1)).toBe(last);
    expect(asked).toBe(calls);
  });

  it('lets one trial through after its time, and closes when that gets an answer', async () => {
    answer = down;
    await askTimes(5);
    clockMs += OPEN_MS - 1;
    await ask();
    expect(asked).toBe(5);
    clockMs += 1;
    const trial = Promise.withResolvers<Quote>();
    answer = () => trial.promise;
    const trying = ask();
    expect(await askTimes(3)).toEqual(Array(3).fill('provider_unavailable'));
    expect(asked).toBe(6);
    trial.resolve(quote);
    expect(await trying).toBe('answer');
    answer = async () => quote;
    expect(await askTimes(3)).toEqual(Array(3).fill('answer'));
    expect(asked).toBe(9);
  });

  it('stays open for as long again when the trial fails', async () => {
    answer = down;
    await askTimes(5);
    for (let round = 1; round <= 3; round++) {
      clockMs += OPEN_MS;
      await askTimes(4);
      expect(asked).toBe(5 + round);
    }
  });

  it('counts failures at the same time as one', async () => {
    answer = down;
    for (let round = 1; round <= 5; round++) {
      await Promise.all(Array.from({ length: 10 }, ask));
      expect(asked).toBe(10 * round);
    }
    await Promise.all(Array.from({ length: 10 }, ask));
    expect(asked).toBe(50);
  });

  it('stays closed whatever fails for fewer than five payments, by clicks and by quotes', async () => {
    const calls = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.boolean()), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(calls, async (drawn) => {
        breakAround({ quote: () => answer(), startSession: () => answer() as never });
        answer = down;
        for (const [payment, isQuote] of drawn) {
          // Values that a customer can change, such as the country, must not make a failure count as another payment.
          const place = {
            customerCountry: `A${clockMs++ % 10}`,
            customerIp: `${clockMs}`,
            means: 'card',
          } as const;
          const failing = { ...request, ...place, amountCents: 10_00 + payment };
          const visit = { ...failing, paymentId: `${payment}` } as SessionRequest;
          await outcomeOf(isQuote ? adapter.quote(failing) : adapter.startSession(visit));
          expect(adapter.isSkipped?.()).toBe(false);
        }
        answer = async () => quote;
        expect([await ask(), await visit()]).toEqual(['answer', 'answer']);
      }),
    );
  });

  it('opens for one price and for catalogs whose calls fail for most of a minute', async () => {
    answer = down;
    const calls = [() => adapter.quote(request), () => adapter.readCatalog?.(request) as Promise<unknown>];
    const count = () => {
      asked++;
      return down() as never;
    };
    for (const call of calls) {
      asked = 0;
      breakAround({ quote: count, startSession: count, readCatalog: count });
      for (let tried = 0; tried < 10; tried++, clockMs += 5_000) await outcomeOf(call());
      expect(asked).toBe(9);
      clockMs += OPEN_MS;
    }
  });

  it('leaves the trial to other payments after one that failed, and gives it another later', async () => {
    answer = down;
    for (let count = 0; count < 5; count++) await visit();
    for (const [calls, after] of [
      [6, 1],
      [6, 2],
      [7, 3],
    ] as const) {
      clockMs += OPEN_MS;
      await visit('hostile');
      expect([after, asked]).toEqual([after, calls]);
    }
    answer = async () => quote;
    clockMs += OPEN_MS;
    expect([await visit('hostile'), await visit()]).toEqual(['provider_unavailable', 'answer']);
  });

  it('closes with the answer to a call that began before it opened', async () => {
    const slow = Promise.withResolvers<Quote>();
    answer = () => slow.promise;
    const early = ask();
    answer = down;
    await askTimes(6);
    expect(asked).toBe(6);
    slow.resolve(quote);
    expect(await early).toBe('answer');
    await ask();
    expect(asked).toBe(7);
  });
});

it.each([
  ['7', 7],
  [' 30 ', 30],
  ['0', 1],
  ['3600', 60],
  ['99999999999', 1],
  ['Sun, 22 Nov 2026 12:00:05 GMT', 5],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 1],
  ['Mon, 23 Nov 2026 12:00:00 GMT', 60],
  ['soon', 1],
  ['-5', 1],
  ['', 1],
  [undefined, 1],
])('Retry-After %j means %d whole seconds, at most a minute', (header, seconds) => {
  expect(readRetryAfterSeconds(header, Date.UTC(2026, 10, 22, 12))).toBe(seconds);
});
