/** What the service promises, as rows of the campaign's table. */
export const promises = {
  conservation: 'Deposits = forwarded + fees + held, to the unit',
  creditedOnce:
    'Every log of the final chain is in the books once, whatever nodes left out, repeated or made up',
  readAtOnce: 'What honest nodes show is read the first time: a second look finds nothing',
  finality: '`paid` only at finality, with the amounts of the final chain',
  legalPath: 'Every payment moves along the state table, and nothing changes a paid one',
  acknowledged: 'Every acknowledged create is there',
  madeOnce: 'A create that is asked again, here or at another instance, makes one payment',
  storedFirst: 'Nothing is broadcast before it is stored',
  postedOnce: 'At most one POST per event, and exactly one for a delivered one',
  claimedFirst: 'No POST without its claimed row, and `paid` is readable before it leaves',
  webhookRow: 'One webhook row for each paid payment, none for any other, each with an outcome',
  verified: '`verify` finds no discrepancy once everything is at rest',
  notEarly: 'Nothing expires before its deadline',
  liveness: 'Once faults stop, everything comes to its end within three hours of simulated time',
  noMistake: 'No step fails for a reason of its own',
} as const;

export type PromiseName = keyof typeof promises;

export interface Violation {
  readonly promise: PromiseName;
  readonly seed: number;
  readonly detail: string;
}

/** What was looked at and what was found. */
export interface Findings {
  readonly cases: Map<PromiseName, number>;
  readonly violations: Violation[];
  /** How often each fault was injected. */
  readonly faults: Map<string, number>;
}

/** Findings of one seed. */
export interface Recorder {
  /** Counts a case, and a violation when the promise was not kept. */
  expect(promise: PromiseName, isKept: boolean, detail: () => string): void;
  fault(kind: string): void;
}

export function emptyFindings(): Findings {
  return { cases: new Map(), violations: [], faults: new Map() };
}

export function createRecorder(findings: Findings, seed: number): Recorder {
  return {
    expect(promise, isKept, detail) {
      findings.cases.set(promise, (findings.cases.get(promise) ?? 0) + 1);
      if (!isKept) findings.violations.push({ promise, seed, detail: detail() });
    },
    fault(kind) {
      findings.faults.set(kind, (findings.faults.get(kind) ?? 0) + 1);
    },
  };
}
