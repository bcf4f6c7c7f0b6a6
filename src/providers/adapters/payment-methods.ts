/** PayPal and Klarna as payment methods of other providers, and the countries in which PayPal is available. */
import { currencies } from '../../payment/money.ts';
import { banxa } from './banxa.ts';
import { definePaymentMethod } from './define-provider.ts';
import { moonpay } from './moonpay.ts';
import * as variable from './provider-variables.ts';

/** Countries of the EEA, including the EU. */
const EEA = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(
  ' ',
);
/** EEA countries in which MoonPay does not accept PayPal: Croatia, Hungary and the three outside the EU. */
const NO_PAYPAL_AT_MOONPAY = ['HR', 'HU', 'IS', 'LI', 'NO'];

export const paypal = definePaymentMethod({
  id: 'paypal',
  variables: [
    variable.oneOf(
      'ROUTE',
      'A provider that offers PayPal (moonpay or banxa); without it PayPal is inactive.',
      ['moonpay', 'banxa'],
    ),
    variable.optional(variable.plain('PAYMENT_METHOD', 'The name of PayPal at Banxa (paypal).')),
  ],
  facts: {
    inferred: [],
    unknown: ['Its currencies at MoonPay, which is asked in each.'],
  },
  routes: [moonpay, banxa],
  nameAt: (route, values) => (route === 'banxa' && values['PAYMENT_METHOD']) || 'paypal',
  traitsAt: {
    moonpay: {
      currenciesSold: currencies,
      countriesServed: new Set(['US', 'GB', ...EEA.filter((each) => !NO_PAYPAL_AT_MOONPAY.includes(each))]),
    },
    banxa: { currenciesSold: ['EUR'], countriesServed: new Set(EEA) },
  },
});

/** Banxa is the only on-ramp that lists Klarna. */
export const klarna = definePaymentMethod({
  id: 'klarna',
  variables: [
    variable.oneOf(
      'ROUTE',
      '`banxa` offers Klarna as a payment method of Banxa; without it Klarna is inactive.',
      ['banxa'],
    ),
    variable.plain('PAYMENT_METHOD', 'The name of Klarna at Banxa.'),
  ],
  facts: {
    inferred: ['`KLARNACKO` (SEK) is Klarna in version 1 of Banxa (EdgeApp/edge-react-gui #6057).'],
    unknown: ['Whether Klarna exists there in EUR, and its name in version 2.'],
  },
  routes: [banxa],
  nameAt: (_route, values) => values['PAYMENT_METHOD'],
});
