/**
 * `opened`: the first time that a customer opened a payment's checkout page. `dismissed`: the alerts of a group that a
 * member dismissed. `settled`: how and by whom a merchant settled a payment with the customer, who never sees it.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** Data of the dashboard beside the payments, by kind and name: a payment's id, or a group of alerts. */
export interface AccountRecord {
  readonly accountId: string;
  readonly kind: RecordKind;
  readonly name: string;
  readonly texts: readonly string[];
  readonly atMs: number;
}

export interface RecordStore {
  /** Adds records; existing ones of the same kind and name stay. */
  addRecords(records: readonly AccountRecord[]): Promise<void>;
  /** Adds a record, or replaces the one of the same kind and name. */
  replaceRecord(record: AccountRecord): Promise<void>;
  /** Existing records of these names; without names the newest thousand of the kind. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
