import type { Finding } from './evaluate.ts';

export interface GradeOptions {
  readonly url: string;
  /** URL at which a POST makes the shop create a checkout. Without it, the user creates them by hand. */
  readonly orderUrl?: string;
  readonly probeUrl?: string;
  readonly port: string;
  /** An unpaid payment of the shop's own service, with token and amount, for a shop that cannot use another one. */
  readonly payment?: string;
  readonly ipnToken?: string;
  readonly amount?: string;
}

export interface Grade {
  readonly met: number;
  readonly findings: readonly Finding[];
  /** Whether the shop follows the event log, which is recommended; null if not tested. */
  readonly events: Finding | null;
}

export function gradeLines({ met, findings, events }: Grade): readonly string[] {
  const words = {
    met: 'met     ',
    missed: 'MISSED  ',
    not_seen: 'not seen',
    not_checked: 'not checked',
  } as const;
  const unchecked = findings.filter(({ mark }) => mark === 'not_checked').length;
  return [
    ...[...findings, ...(events === null ? [] : [events])].flatMap(({ obligation, mark, problems, mend }) => [
      `${words[mark]} ${obligation}`,
      ...problems.map((problem) => `           ${problem}`),
      ...(mend === null ? [] : [`         → ${mend}`]),
    ]),
    unchecked === 0
      ? `${met} of ${findings.length}`
      : `${met} of the ${findings.length - unchecked} that could be checked; ${unchecked} could not`,
  ];
}
