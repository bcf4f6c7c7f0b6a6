import type { Command } from 'commander';
import { leaf } from '../command.ts';
import { printResult } from '../present.ts';
import type { Finding } from './evaluate.ts';

export interface GradeOptions {
  readonly url: string;
  /** URL at which a POST makes the shop create a checkout. If absent, the user creates checkouts by hand. */
  readonly orderUrl?: string;
  readonly probeUrl?: string;
  readonly port: string;
  /** Id of an unpaid payment of the shop's own service, for a shop that cannot use the stand-in service. */
  readonly payment?: string;
  readonly ipnToken?: string;
  readonly amount?: string;
}

export interface Grade {
  readonly met: number;
  readonly findings: readonly Finding[];
  /** Finding on whether the shop follows the event log, as recommended; null if not tested. */
  readonly events: Finding | null;
}

export function addGradeCommand(program: Command, run: (options: GradeOptions) => Promise<Grade>): void {
  leaf(program, 'grade', 'test a webhook receiver against the five obligations, and explain each failure')
    .argument('<url>')
    .option(
      '--order-url <url>',
      'the URL at which a POST makes the shop create a checkout; without it, create checkouts by hand',
    )
    .option(
      '--probe-url <url>',
      'the URL at which a GET returns {"fulfilments": 1} for the order of {payment_id}',
    )
    .option('--port <port>', 'the port of the simulated service that the shop must use', '4100')
    .option('--payment <payment>', 'for a shop that uses its own service: an unpaid payment of that service')
    .option('--ipn-token <token>', 'with --payment: its ipn_token')
    .option('--amount <amount>', 'with --payment: its amount, in USD (25.00)')
    .action(async (url: string, { json, ...options }: Omit<GradeOptions, 'url'> & { json?: boolean }) => {
      const grade = await run({ url, ...options });
      printResult(json === true ? grade : gradeLines(grade), { json: json === true });
      const isShort = grade.findings.some(({ mark }) => mark === 'missed' || mark === 'not_seen');
      if (isShort || grade.events?.mark === 'missed') process.exitCode = 1;
    });
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
