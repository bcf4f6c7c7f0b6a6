/** `webhooks`: events that did not arrive or of which nobody knows. `payments`: money that waits for a hand. */
export const troubleKinds = ['webhooks', 'payments'] as const;
export type TroubleKind = (typeof troubleKinds)[number];

/** What went wrong in an account since its owners were told last. */
export interface Trouble {
  readonly accountId: string;
  readonly kind: TroubleKind;
  readonly count: number;
  /** When the first of it happened. */
  readonly sinceMs: number;
  /** When the owners were told last; 0 for never. */
  readonly toldAtMs: number;
}

/** Who has to be told of what. */
export interface TroubleStore {
  /**
   * Adds up what went wrong since the last call and no later than `throughMs`, but nothing from before `earliestMs`.
   * What the first call finds is old, and counts as known.
   */
  noteTroubles(earliestMs: number, throughMs: number): Promise<void>;
  /** Takes troubles of accounts whose owners were told of the kind before `toldBeforeMs` or never, each for one caller. */
  claimTroubles(toldBeforeMs: number, limit: number, nowMs: number): Promise<readonly Trouble[]>;
  /** Puts back one that was claimed, as nobody was told. */
  returnTrouble(trouble: Trouble): Promise<void>;
}
