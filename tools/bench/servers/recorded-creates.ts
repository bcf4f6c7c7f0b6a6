import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/** Value of a statement's parameter. */
export type Value = string | number | bigint | boolean | null | Uint8Array | readonly Value[];

export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Writes of a create that was sent twice, and the ids of its payments. */
export interface RecordedCreate {
  readonly hasNote: boolean;
  readonly hasKey: boolean;
  readonly paymentIds: readonly [string, string];
  readonly sent: readonly [readonly Statement[], readonly Statement[]];
}

/** Statement that another create with these parameters would send. */
export interface LearnedStatement {
  readonly sql: string;
  valuesFor(paymentId: string): Value[];
}

/** Kind of a create, which determines its writes. */
export function kindOf({ hasNote, hasKey }: { readonly hasNote: boolean; readonly hasKey: boolean }): string {
  return `${hasNote} ${hasKey}`;
}

/**
 * Learns from two creates of the same parameters what is the same for each and what is new: the payment's id, times, and
 * everything else that differs, which is taken to be random. A statement belongs to a create if all of its kind sent it:
 * others came from a task in the same moment.
 */
export function learnCreates(
  recorded: readonly RecordedCreate[],
): ReadonlyMap<string, readonly (readonly LearnedStatement[])[]> {
  const learned = new Map<string, (readonly LearnedStatement[])[]>();
  for (const [kind, creates] of Map.groupBy(recorded, kindOf)) {
    const texts = creates.flatMap(({ sent }) => sent.map((statements) => statements.map(({ sql }) => sql)));
    const always = new Set(texts[0]?.filter((sql) => texts.every((each) => each.includes(sql))));
    learned.set(
      kind,
      creates.map(({ sent, paymentIds }) => {
        const [first, second] = sent.map((statements) => statements.filter(({ sql }) => always.has(sql)));
        return (first ?? []).map(({ sql, values }, index) => {
          const twin = second?.[index];
          if (twin?.sql !== sql) throw new Error(`two creates that are alike did not both send: ${sql}`);
          const makers = values.map((value, column) =>
            learnValue(value, twin.values[column] as Value, paymentIds),
          );
          return { sql, valuesFor: (paymentId) => makers.map((make) => make(paymentId)) };
        });
      }),
    );
  }
  return learned;
}

type Maker = (paymentId: string) => Value;

function learnValue(first: Value, second: Value, paymentIds: readonly [string, string]): Maker {
  if (isDeepStrictEqual(first, second)) return () => first;
  if (typeof first === 'string' && typeof second === 'string') return learnText(first, second, paymentIds);
  if (typeof first === 'number') return learnTime(first) ?? (() => first);
  if (first instanceof Uint8Array) {
    const isId = Buffer.from(first).toString('hex') === paymentIds[0].replaceAll('-', '');
    return isId ? (id) => Buffer.from(id.replaceAll('-', ''), 'hex') : () => randomBytes(first.length);
  }
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length) {
    const makers = first.map((value, index) => learnValue(value, second[index], paymentIds));
    return (id) => makers.map((make) => make(id));
  }
  throw new TypeError(`no create can be made like ${String(first)} and ${String(second)}`);
}

/** Splits at other characters than letters and digits, because a text may be a list or JSON. */
function learnText(first: string, second: string, paymentIds: readonly [string, string]): Maker {
  const ID = '\u0001';
  const [own, other] = [first.replaceAll(paymentIds[0], ID), second.replaceAll(paymentIds[1], ID)].map(
    (text) => text.split(/([0-9A-Za-z]+)/),
  ) as [string[], string[]];
  const makers = own.map((part, index): ((id: string) => string | number) => {
    if (part === other[index]) return part.includes(ID) ? (id) => part.replaceAll(ID, id) : () => part;
    const time = learnTime(Number(part));
    if (time !== undefined) return time;
    // Hex digits of an address, or of bytes in PostgreSQL's form.
    const prefix = /^0?x/.exec(part)?.[0] ?? '';
    return () => prefix + randomDigits(part.length - prefix.length);
  });
  return (id) => makers.map((make) => make(id)).join('');
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** Time at the same distance from now; undefined for a number that is not a time. */
function learnTime(value: number): (() => number) | undefined {
  const offsetMs = value - Date.now();
  return Math.abs(offsetMs) < YEAR_MS ? () => Date.now() + offsetMs : undefined;
}

let digits = '';
let used = 0;

/** Random hex digits, at minimum cost. */
function randomDigits(count: number): string {
  if (used + count > digits.length) {
    digits = randomBytes(Math.max(8_192, count)).toString('hex');
    used = 0;
  }
  used += count;
  return digits.slice(used - count, used);
}
