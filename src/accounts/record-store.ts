/**
 * `opened`: the first time that a customer opened a payment's checkout page. `dismissed`: the alerts that a group held when
 * a member dismissed it. `settled`: how a merchant settled a payment with the customer, and who wrote it; customers never
 * see it.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** What the dashboard keeps beside the payments, by kind and name: a payment's id, or a group of alerts. */
export interface AccountRecord {
  readonly accountId: string;
  readonly kind: RecordKind;
  readonly name: string;
  readonly texts: readonly string[];
  readonly atMs: number;
}

export interface RecordStore {
  /** Adds records; one of the same kind and name stays. */
  addRecords(records: readonly AccountRecord[]): Promise<void>;
  /** Puts a record in the place of one of the same kind and name. */
  replaceRecord(record: AccountRecord): Promise<void>;
  /** The records of these names that there are; the newest thousand of the kind without names. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
