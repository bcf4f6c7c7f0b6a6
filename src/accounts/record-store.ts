/**
 * `opened`: a customer first opened a checkout. `dismissed`: alerts that a member dismissed. `settled`: how and by whom
 * a payment was settled between merchant and customer; not shown to the customer.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** Dashboard data that is not part of payments. `name` is a payment's id or a group of alerts. */
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
  replaceRecord(record: AccountRecord): Promise<void>;
  /** Existing records with these names; without `names`, the newest thousand of the kind. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
