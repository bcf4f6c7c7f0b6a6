import { basename, dirname, join } from 'node:path/posix';

/** Code whose tests must detect nearly every mutation. */
export interface MutationGroup {
  readonly name: string;
  readonly parts: readonly MutatedFile[];
}

/** Mutated file, with the fast tests that must fail. */
export interface MutatedFile {
  readonly file: string;
  /** Code that runs on import, such as a table, is tested with all of them. */
  readonly tests: readonly string[];
}

/** Code in which a mistake costs money or grants access. */
export const mutationGroups: readonly MutationGroup[] = [
  {
    name: 'money',
    parts: [
      part('src/payment/money.ts'),
      part('src/payment/fees-and-paid-threshold.ts', 'fees', 'paid-threshold'),
    ],
  },
  {
    name: 'signing',
    parts: [
      part('src/payment/ipn-token.ts'),
      part('src/payment/payment-events.ts', 'payment-events', 'payment-events-webhooks'),
      part('src/webhooks/send-webhook.ts', 'webhook-queue'),
      part('src/webhooks/webhook-signatures.ts', 'webhook-signatures', 'webhook-queue'),
      part('src/webhooks/webhook-queue.ts'),
    ],
  },
  {
    name: 'settlement',
    parts: [
      part('src/payment/settle.ts', 'settle', 'settle-direct'),
      part('src/payment/release-schedule.ts', 'settle', 'settle-direct'),
    ],
  },
  {
    name: 'relay arithmetic',
    parts: [
      part('src/settlement/chain/gas.ts', 'gas-estimate', 'gas-balance'),
      part('src/settlement/relay/gas-deferral.ts'),
      part('src/settlement/relay/raise-fees.ts'),
      part('src/settlement/relay/size-batch.ts'),
      part('src/settlement/relay/nonces.ts'),
    ],
  },
  { name: 'second factors', parts: [part('src/accounts/second-factor.ts')] },
  { name: 'connect', parts: [part('src/features/connect/connect-shop.ts')] },
  {
    name: 'callback rules',
    parts: [
      part('src/platform/public-address.ts'),
      part('src/payment/callback-url.ts', 'callback-url', '../webhooks/callback-host'),
    ],
  },
  { name: 'state table', parts: [part('src/payment/payment-states.ts')] },
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

/** A file and its tests: those with these names or paths from its folder, by default the file's own. */
function part(file: string, ...tests: readonly string[]): MutatedFile {
  const names = tests.length > 0 ? tests : [basename(file, '.ts')];
  return { file, tests: names.map((name) => join(dirname(file), `${name}.test.ts`)) };
}
