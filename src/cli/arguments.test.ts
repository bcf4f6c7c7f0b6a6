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

interface Reader {
  readonly name: string;
  readonly read: (args: OperationArguments) => unknown;
  /** Option that an error message must name. */
  readonly option: string;
  readonly takes: readonly (readonly [OperationArguments, unknown])[];
  readonly refuses: readonly OperationArguments[];
}

/** Creates a test case for one option: accepted values with results, and refused values. Undefined means absent. */
function readerOf(
  read: (args: OperationArguments, option: string) => unknown,
  option: string,
  takes: readonly (readonly [string | true | undefined, unknown])[],
  refuses: readonly (string | true | undefined)[],
): Reader {
  const argsOf = (value: string | true | undefined): OperationArguments =>
    value === undefined ? {} : { [option]: value };
  return {
    name: read.name,
    read: (args) => read(args, option),
    option,
    takes: takes.map(([value, read]) => [argsOf(value), read]),
    refuses: refuses.map(argsOf),
  };
}
const absent = [undefined, null] as const;
const wrongEmails = ['', 'a', '@b', 'a@', 'a b@c', 'a@b@c', '<a@b>', `${'a'.repeat(253)}@b`];
const wrongProviders = [undefined, '', 'multi', 'MoonPay', 'toString', '__proto__'];

const readers: readonly Reader[] = [
  readerOf(argument.optional, 'note', [absent, [true, null], ['', ''], ['x', 'x']], []),
  readerOf(argument.required, 'name', [['x', 'x']], [undefined, '', true]),
  readerOf(
    argument.optionalPercent,
    'fee-percent',
    [absent, ['2.5', 250], ['0', 0], ['100', 10_000]],
    ['', '-1', '2.555', '101', '2,5', '2%', 'NaN'],
  ),
  readerOf(
    argument.optionalAddress,
    'wallet',
    [absent, [ADDRESS.toLowerCase(), ADDRESS]],
    ['', '0x', WRONG_CHECKSUM, ZERO, `${ADDRESS} `],
  ),
  readerOf(argument.optionalEmail, 'email', [absent, ['a@shop.example', 'a@shop.example']], wrongEmails),
  readerOf(
    argument.optionalUnits,
    'usdc',
    [absent, ['12.34', 12_340_000n], ['0.000001', 1n]],
    ['', '0', '0.0000001', '-1', '1e3', '1,5'],
  ),
  readerOf(
    argument.optionalAmountCents,
    'amount',
    [absent, ['12.34', 12_34]],
    ['', '0', '0.001', '-1', '1e3'],
  ),
  readerOf(argument.optionalCurrency, 'currency', [absent, ['EUR', 'EUR']], ['', 'eur', 'GBP', 'toString']),
  readerOf(argument.optionalCountry, 'country', [absent, ['DE', 'DE']], ['', 'de', 'Germany', 'D']),
  readerOf(
    argument.requiredPaymentId,
    'payment',
    [[PAYMENT_ID, PAYMENT_ID]],
    [undefined, '', 'x', `${PAYMENT_ID}0`],
  ),
  readerOf(
    argument.requiredProvider,
    'provider',
    providerIds.map((id) => [id, id] as const),
    wrongProviders,
  ),
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
      [{ status: 'paid' }, { status: 'paid' }],
    ],
    refuses: ['', 'PAID', 'processing'].map((status) => ({ status })),
  },
];

describe.each(readers)('$name --$option', ({ read, option, takes, refuses }) => {
  it('takes these values, and names the option where it refuses one', () => {
    for (const [args, expected] of takes) expect(read(args), JSON.stringify(args)).toEqual(expected);
    for (const args of refuses) {
      expect(() => read(args), JSON.stringify(args)).toThrow(ServiceError);
      expect(() => read(args), JSON.stringify(args)).toThrow(new RegExp(`^${option} \\S+`));
    }
  });
});

describe('accountUpdate', () => {
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
