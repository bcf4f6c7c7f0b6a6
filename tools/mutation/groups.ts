/** A part of the code whose tests must notice nearly every change to it. */
export interface MutationGroup {
  readonly name: string;
  readonly parts: readonly MutatedFile[];
}

/** A file that is changed, with the quick tests that have to notice. */
export interface MutatedFile {
  readonly file: string;
  /** What belongs to the loading of a module, a table for example, is tried on all of them. */
  readonly tests: readonly string[];
}

/** Where a mistake costs money or grants access. */
export const mutationGroups: readonly MutationGroup[] = [
  {
    name: 'money',
    parts: [
      beside('src/payment/money.ts'),
      {
        file: 'src/payment/paid-threshold.ts',
        tests: ['src/payment/paid-threshold.test.ts', 'src/payment/fees.test.ts'],
      },
    ],
  },
  {
    name: 'signing',
    parts: [
      {
        file: 'src/payment/payment-events.ts',
        tests: [
          'src/payment/ipn-token.test.ts',
          'src/payment/payment-events.test.ts',
          'src/payment/paid-webhook.test.ts',
        ],
      },
      {
        file: 'src/webhooks/webhook.ts',
        tests: ['src/webhooks/webhook.test.ts', 'src/webhooks/send-webhooks.test.ts'],
      },
    ],
  },
  {
    name: 'settlement',
    parts: [
      {
        file: 'src/payment/settle.ts',
        tests: ['src/payment/settle.test.ts', 'src/payment/settle-direct.test.ts'],
      },
    ],
  },
  {
    name: 'relay arithmetic',
    parts: [
      {
        file: 'src/settlement/chain/gas.ts',
        tests: ['src/settlement/chain/estimate-gas.test.ts', 'src/settlement/chain/gas-balance.test.ts'],
      },
      {
        file: 'src/settlement/relay/size-batch.ts',
        tests: ['src/settlement/relay/size-batch.test.ts', 'src/settlement/relay/nonces.test.ts'],
      },
    ],
  },
  { name: 'second factors', parts: [beside('src/accounts/second-factor.ts')] },
  { name: 'connect', parts: [beside('src/features/connect/connect-shop.ts')] },
  {
    name: 'callback rules',
    parts: [beside('src/platform/public-address.ts'), beside('src/payment/callback-url.ts')],
  },
  {
    name: 'state table',
    parts: [
      {
        file: 'src/payment/payment.ts',
        tests: ['src/payment/payment-states.test.ts', 'test/docs/payment-lifecycle.test.ts'],
      },
    ],
  },
];

/**
 * The groups with these names, and of other groups the files that are named; all for no name.
 * @throws `RangeError` for a name that is neither
 */
export function chooseGroups(names: readonly string[], groups = mutationGroups): readonly MutationGroup[] {
  const known = groups.flatMap(({ name, parts }) => [name, ...parts.map(({ file }) => file)]);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new RangeError(`no such group or file: ${unknown.join(', ')}`);
  if (names.length === 0) return groups;
  return groups
    .map(({ name, parts }) => ({
      name,
      parts: names.includes(name) ? parts : parts.filter(({ file }) => names.includes(file)),
    }))
    .filter(({ parts }) => parts.length > 0);
}

/** With the test that lies beside it. */
function beside(file: string): MutatedFile {
  return { file, tests: [file.replace(/\.ts$/, '.test.ts')] };
}
