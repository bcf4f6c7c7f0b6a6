/**
 * What a store does where it is not hot, written once for all engines: a generator that asks for one statement after
 * the other and is given the rows. Where the engine runs it is a transaction, of which all or nothing takes effect.
 */
export type Script<T> = Generator<Step, T, Rows>;

/** A statement with numbered parameters (`?1`), in the SQL that all engines have in common. */
interface Statement {
  readonly sql: string;
  readonly values: readonly ScriptValue[];
}

/** Makes others that ask for the same name wait until this script is done, where more than one can run at a time. */
interface Lock {
  readonly lock: string;
}

type Step = Statement | Lock;

/** Flags are 0 and 1, in the columns too. */
export type ScriptValue = string | number | null;

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Runs scripts on an engine. */
export interface Scripts {
  /** A script that only reads. It takes no locks. */
  read<T>(script: () => Script<T>): Promise<T>;
  /** It may run again from its beginning when it meets another transaction. */
  write<T>(script: () => Script<T>): Promise<T>;
}

/** Asks for one statement. */
export function* run(sql: string, ...values: readonly ScriptValue[]): Script<Rows> {
  return yield { sql, values };
}

/** Asks for one statement that has one row at most. */
export function* runForOne<Row>(sql: string, ...values: readonly ScriptValue[]): Script<Row | null> {
  const [row] = yield { sql, values };
  return row === undefined ? null : ({ ...row } as Row);
}

/** Waits for others. */
export function* lock(name: string): Script<void> {
  yield { lock: name };
}
