/** The promises of the service, as rows of the stress suite's table. */
export const promises = {
  conservation: 'Deposits = forwarded + fees + held, to the unit',
  creditedOnce: 'Every log of the final chain is recorded once, whatever nodes omit, repeat or invent',
  readAtOnce: 'Logs of honest nodes are read in the first scan: a second scan finds nothing',
  finality: '`paid` only at finality, with the amounts of the final chain',
  legalPath: 'Every payment moves along the state table, and nothing changes a paid one',
  acknowledged: 'Every acknowledged create is stored',
  madeOnce: 'A retried create, at this or another instance, creates one payment',
  storedFirst: 'Nothing is broadcast before it is stored',
  postedOnce: 'At most one POST per event, and exactly one for a delivered one',
  claimedFirst: 'No POST without its claimed row, and `paid` is readable before it is sent',
  webhookRow: 'One webhook row with an outcome for each paid payment, and none for others',
  refunded: 'A refund is paid by a final transfer of its amount to its address, and by nothing else',
  verified: '`verify` finds no discrepancy when all work is done',
  notEarly: 'Nothing expires before its deadline',
  liveness: 'After faults stop, all work ends within three hours of simulated time',
  noMistake: 'No task fails because of a defect',
} as const;

export type PromiseName = keyof typeof promises;

export interface Violation {
  readonly promise: PromiseName;
  readonly seed: number;
  readonly detail: string;
}

export interface Findings {
  readonly cases: Map<PromiseName, number>;
  readonly violations: Violation[];
  /** How often each fault was injected. */
  readonly faults: Map<string, number>;
  /** How often the service's tasks met a fault of the endpoints alone, and each two at once. */
  readonly together: Map<string, number>;
}

/** Findings of one seed. */
export interface Recorder {
  /** Counts a case, and a violation when the promise was not kept. */
  expect(promise: PromiseName, isKept: boolean, detail: () => string): void;
  fault(kind: string): void;
  together(names: string): void;
}

export function emptyFindings(): Findings {
  return { cases: new Map(), violations: [], faults: new Map(), together: new Map() };
}

export function createRecorder(findings: Findings, seed: number): Recorder {
  return {
    expect(promise, isKept, detail) {
      findings.cases.set(promise, (findings.cases.get(promise) ?? 0) + 1);
      if (!isKept) findings.violations.push({ promise, seed, detail: detail() });
    },
    fault: (kind) => addOne(findings.faults, kind),
    together: (names) => addOne(findings.together, names),
  };
}

function addOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
