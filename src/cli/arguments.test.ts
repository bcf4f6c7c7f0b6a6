import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../payment/errors.ts';
import { createPaymentIdGenerator } from '../payment/payment-id.ts';
import { providerIds } from '../payment/provider-catalog.ts';
import * as argument from './arguments.ts';
import type { OperationArguments } from './operations-context.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const WRONG_CHECKSUM = ADDRESS.replace('A', 'a');
const ZERO = `0x${'0'.repeat(40)}`;
const PAYMENT_ID = createPaymentIdGenerator(Date.now)();

type Read = (args: OperationArguments) => unknown;
const named =
  (read: (args: OperationArguments, name: string) => unknown, name: string): Read =>
  (args) =>
    read(args, name);

/** Each reader, what it takes (and makes of it), and what it refuses, by the option that the message must name. */
const readers: readonly {
  name: string;
  read: Read;
  option: string;
  takes: [OperationArguments, unknown][];
  refuses: OperationArguments[];
}[] = [
  {
    name: 'optional',
    read: named(argument.optional, 'note'),
    option: 'note',
    takes: [
      [{}, null],
      [{ note: true }, null],
      [{ note: '' }, ''],
      [{ note: 'x' }, 'x'],
    ],
    refuses: [],
  },
  {
    name: 'required',
    read: named(argument.required, 'name'),
    option: 'name',
    takes: [[{ name: 'x' }, 'x']],
    refuses: [{}, { name: '' }, { name: true }],
  },
  {
    name: 'optionalPercent',
    read: named(argument.optionalPercent, 'fee-percent'),
    option: 'fee-percent',
    takes: [
      [{}, null],
      [{ 'fee-percent': '2.5' }, 250],
      [{ 'fee-percent': '0' }, 0],
      [{ 'fee-percent': '100' }, 10_000],
    ],
    refuses: ['', '-1', '2.555', '101', '2,5', '2%', 'NaN'].map((value) => ({ 'fee-percent': value })),
  },
  {
    name: 'optionalAddress',
    read: named(argument.optionalAddress, 'wallet'),
    option: 'wallet',
    takes: [
      [{}, null],
      [{ wallet: ADDRESS.toLowerCase() }, ADDRESS],
    ],
    refuses: ['', '0x', WRONG_CHECKSUM, ZERO, `${ADDRESS} `].map((wallet) => ({ wallet })),
  },
  {
    name: 'optionalEmail',
    read: named(argument.optionalEmail, 'email'),
    option: 'email',
    takes: [
      [{}, null],
      [{ email: 'a@shop.example' }, 'a@shop.example'],
    ],
    refuses: ['', 'a', '@b', 'a@', 'a b@c', 'a@b@c', '<a@b>', `${'a'.repeat(253)}@b`].map((email) => ({
      email,
    })),
  },
  {
    name: 'optionalUnits',
    read: named(argument.optionalUnits, 'usdc'),
    option: 'usdc',
    takes: [
      [{}, null],
      [{ usdc: '12.34' }, 12_340_000n],
      [{ usdc: '0.000001' }, 1n],
    ],
    refuses: ['', '0', '0.0000001', '-1', '1e3', '1,5'].map((usdc) => ({ usdc })),
  },
  {
    name: 'optionalAmountCents',
    read: named(argument.optionalAmountCents, 'amount'),
    option: 'amount',
    takes: [
      [{}, null],
      [{ amount: '12.34' }, 12_34],
    ],
    refuses: ['', '0', '0.001', '-1', '1e3'].map((amount) => ({ amount })),
  },
  {
    name: 'optionalCurrency',
    read: named(argument.optionalCurrency, 'currency'),
    option: 'currency',
    takes: [
      [{}, null],
      [{ currency: 'EUR' }, 'EUR'],
    ],
    refuses: ['', 'eur', 'GBP', 'toString'].map((currency) => ({ currency })),
  },
  {
    name: 'optionalCountry',
    read: named(argument.optionalCountry, 'country'),
    option: 'country',
    takes: [
      [{}, null],
      [{ country: 'DE' }, 'DE'],
    ],
    refuses: ['', 'de', 'Germany', 'D'].map((country) => ({ country })),
  },
  {
    name: 'requiredPaymentId',
    read: named(argument.requiredPaymentId, 'payment'),
    option: 'payment',
    takes: [[{ payment: PAYMENT_ID }, PAYMENT_ID]],
    refuses: [{}, { payment: '' }, { payment: 'x' }, { payment: `${PAYMENT_ID}0` }],
  },
  {
    name: 'requiredProvider',
    read: named(argument.requiredProvider, 'provider'),
    option: 'provider',
    takes: providerIds.map((provider) => [{ provider }, provider]),
    refuses: [{}, ...['', 'multi', 'MoonPay', 'toString', '__proto__'].map((provider) => ({ provider }))],
  },
  {
    name: 'rescuedToken',
    read: argument.rescuedToken,
    option: 'token',
    takes: [
      [{ token: 'pol' }, ZERO],
      [{ token: 'POL' }, ZERO],
      [{ token: ADDRESS }, ADDRESS],
    ],
    refuses: [{}, { token: '' }, { token: 'usdc' }, { token: WRONG_CHECKSUM }, { token: ZERO }],
  },
  {
    name: 'providerSettings',
    read: argument.providerSettings,
    option: 'minimum-usd',
    takes: [
      [{}, {}],
      [{ active: true }, { active: true }],
      [
        { inactive: true, 'minimum-usd': '12.5' },
        { active: false, minimumUsdCents: 1_250 },
      ],
    ],
    refuses: ['', '0', '-1', '1.234', '10000.01', 'ten'].map((value) => ({ 'minimum-usd': value })),
  },
  {
    name: 'providerSettings',
    read: argument.providerSettings,
    option: 'active',
    takes: [],
    refuses: [{ active: true, inactive: true }],
  },
  {
    name: 'paymentFilter',
    read: argument.paymentFilter,
    option: 'status',
    takes: [
      [{}, {}],
      [
        { account: 'acc_1', status: 'paid' },
        { accountId: 'acc_1', status: 'paid' },
      ],
    ],
    refuses: ['', 'PAID', 'processing'].map((status) => ({ status })),
  },
];

describe.each(readers)('$name --$option', ({ read, option, takes, refuses }) => {
  if (takes.length > 0) {
    it.each(takes)('takes %o', (args, expected) => {
      expect(read(args)).toEqual(expected);
    });
  }
  if (refuses.length > 0) {
    it.each(refuses.map((args) => [args] as const))('refuses %j and names the option', (args) => {
      expect(() => read(args)).toThrow(ServiceError);
      expect(() => read(args)).toThrow(new RegExp(`^${option} \\S+`));
    });
  }
});

describe('accountUpdate', () => {
  it('changes only what was named', () => {
    expect(argument.accountUpdate({ account: 'acc_1' })).toEqual({ profile: { texts: {} } });
    expect(
      argument.accountUpdate({
        'fee-percent': '1.25',
        wallet: ADDRESS,
        providers: 'wert, moonpay',
        suspend: true,
        enable: 'card_checkout',
        disable: 'fee_pass_through',
      }),
    ).toEqual({
      feeBasisPoints: 125,
      profile: { wallet: ADDRESS, texts: {} },
      providers: ['wert', 'moonpay'],
      suspended: true,
      enable: 'card_checkout',
      disable: 'fee_pass_through',
    });
    expect(argument.accountUpdate({ providers: 'all', resume: true })).toEqual({
      profile: { texts: {} },
      providers: null,
      suspended: false,
    });
  });

  it.each<[string, OperationArguments]>([
    ['fee-percent', { 'fee-percent': 'x' }],
    ['wallet', { wallet: 'x' }],
    ['providers', { providers: '' }],
    ['providers', { providers: 'moonpay,' }],
    ['providers', { providers: 'all,moonpay' }],
    ['enable', { enable: 'everything' }],
    ['disable', { disable: '' }],
    ['suspend', { suspend: true, resume: true }],
  ])('names --%s when it is wrong (%j)', (option, args) => {
    expect(() => argument.accountUpdate(args)).toThrow(new RegExp(`^${option} \\S+`));
  });
});

it('whatever arrives, a reader answers or throws a ServiceError', () => {
  const options = [...new Set(readers.map(({ option }) => option)), 'inactive', 'account'];
  const value = fc.oneof(fc.string(), fc.boolean(), fc.constant(undefined));
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...options), value),
      fc.constantFrom(...readers),
      (args, { read }) => {
        try {
          read(args);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      },
    ),
  );
});
