import type { Finding } from './judge.ts';

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
}

/** The five findings, and how many of them are met. */
export interface Grade {
  readonly met: number;
  readonly findings: readonly Finding[];
}

/** What a person reads. */
export function gradeLines({ met, findings }: Grade): readonly string[] {
  const words = { met: 'met     ', missed: 'MISSED  ', not_seen: 'not seen' } as const;
  return [
    ...findings.flatMap(({ obligation, mark, problems, mend }) => [
      `${words[mark]} ${obligation}`,
      ...problems.map((problem) => `           ${problem}`),
      ...(mend === null ? [] : [`         → ${mend}`]),
    ]),
    `${met} of ${findings.length}`,
  ];
}
