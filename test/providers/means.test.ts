/** Means of payment that each provider is asked for, in its own words, against the simulator of its provider. */
import { describe, expect, it } from 'vitest';
import {
  customerFacts,
  type PaymentMeans,
  type ProviderId,
  providerIds,
} from '../../src/payment/provider-catalog.ts';
import { openFromCheckout, outcomeOf, someSession, useStage, watchedAdapter } from './stage.ts';

const stage = useStage();

/** Names that the providers' sources give for their parameters. */
const names: Readonly<Partial<Record<ProviderId, Readonly<Partial<Record<PaymentMeans, RegExp>>>>>> = {
  moonpay: {
    card: /[?&]paymentMethod=credit_debit_card&/,
    apple_pay: /[?&]paymentMethod=apple_pay&/,
    google_pay: /[?&]paymentMethod=google_pay&/,
  },
  revolut: {
    card: /\/buy\?.*&payment=card&/,
    apple_pay: /\/buy\?.*&payment=apple-pay&/,
    google_pay: /\/buy\?.*&payment=google-pay&/,
  },
  rampnetwork: {
    card: /[?&]paymentMethodType=CARD_PAYMENT&/,
    apple_pay: /[?&]paymentMethodType=APPLE_PAY&/,
    google_pay: /[?&]paymentMethodType=GOOGLE_PAY&/,
  },
  transak: {
    card: /"paymentMethod":"credit_debit_card"/,
    apple_pay: /"paymentMethod":"apple_pay"/,
    google_pay: /"paymentMethod":"google_pay"/,
  },
  banxa: {
    card: /"paymentMethodId":"debit-credit-card"/,
    apple_pay: /"paymentMethodId":"apple-pay"/,
    google_pay: /"paymentMethodId":"google-pay"/,
  },
  paypal: { paypal: /[?&]paymentMethod=paypal&/ },
  klarna: { klarna: /"paymentMethodId":"klarna"/ },
};

const asking = providerIds.filter((id) => names[id] !== undefined);
const cases = asking.flatMap((id) => customerFacts[id].means.map((means) => [id, means] as const));

it('is sold with more than a card only where a provider can be asked', () => {
  for (const id of providerIds.filter((each) => !asking.includes(each)))
    expect([[], ['card']]).toContainEqual(customerFacts[id].means);
});

describe('a session', () => {
  it.each(cases)('at %s for %s is asked for in the name of its source, and opens', async (id, means) => {
    const { said, adapter } = await watchedAdapter(stage, id);
    const { redirectUrl } = await adapter.startSession({ ...someSession, means });
    expect([...said, redirectUrl].join('\n')).toMatch(names[id]?.[means] as RegExp);
    const base = stage.valuesOf(id)['BASE_URL'] as string;
    expect((await openFromCheckout(redirectUrl.replace(/^.*?(?=\/widget)/, base))).status).toBe(200);
  });

  it.each(asking)('at %s without means is for its usual ones', async (id) => {
    const { said, adapter } = await watchedAdapter(stage, id);
    const { redirectUrl } = await adapter.startSession(someSession);
    const [usual] = customerFacts[id].means;
    expect([...said, redirectUrl].join('\n')).toMatch(names[id]?.[usual as PaymentMeans] as RegExp);
  });

  it.each(providerIds)(
    'at %s for means that it cannot be asked for is refused without a call',
    async (id) => {
      const others = (['card', 'apple_pay', 'google_pay', 'paypal', 'klarna'] as const).filter(
        (means) => !customerFacts[id].means.includes(means),
      );
      const { said, adapter } = await watchedAdapter(stage, id);
      for (const means of others) {
        expect([means, await outcomeOf(adapter.startSession({ ...someSession, means }))]).toEqual([
          means,
          'provider_inactive',
        ]);
        expect(await outcomeOf(adapter.quote({ ...someSession, means }))).toBe('provider_inactive');
      }
      expect(said).toEqual([]);
    },
  );
});
