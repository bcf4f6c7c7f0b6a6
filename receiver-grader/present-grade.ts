import type { Finding } from './evaluate.ts';

/** What is typed after `grade`. */
export interface GradeOptions {
  /** The endpoint under test. */
  readonly url: string;
  /** Where a POST makes the shop create a checkout; without it somebody creates them by hand. */
  readonly orderUrl?: string;
  /** Where a GET tells how often an order was fulfilled; `{payment_id}` in it is replaced. */
  readonly probeUrl?: string;
  /** Where the stand-in service listens. */
  readonly port: string;
  /** A payment of the shop's own service, where the shop can ask no other; with its token and amount. */
  readonly payment?: string;
  readonly ipnToken?: string;
  readonly amount?: string;
}

/** The five findings, and how many of them are met. */
export interface Grade {
  readonly met: number;
  readonly findings: readonly Finding[];
}

/** What a person reads. */
export function gradeLines({ met, findings }: Grade): readonly string[] {
  const words = {
    met: 'met     ',
    missed: 'MISSED  ',
    not_seen: 'not seen',
    not_checked: 'not checked',
  } as const;
  const unchecked = findings.filter(({ mark }) => mark === 'not_checked').length;
  return [
    ...findings.flatMap(({ obligation, mark, problems, mend }) => [
      `${words[mark]} ${obligation}`,
      ...problems.map((problem) => `           ${problem}`),
      ...(mend === null ? [] : [`         → ${mend}`]),
    ]),
    unchecked === 0
      ? `${met} of ${findings.length}`
      : `${met} of the ${findings.length - unchecked} that could be checked; ${unchecked} could not`,
  ];
}
