import type { Command } from 'commander';
import { leaf } from '../command.ts';
import { printResult } from '../present.ts';
import { type Grade, type GradeOptions, gradeLines } from './present-grade.ts';

export interface GradeServices {
  grade(options: GradeOptions): Promise<Grade>;
}

export function addGradeCommand(program: Command, services: GradeServices): void {
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
      const grade = await services.grade({ url, ...options });
      printResult(json === true ? grade : gradeLines(grade), { json: json === true });
      const isShort = grade.findings.some(({ mark }) => mark === 'missed' || mark === 'not_seen');
      if (isShort || grade.events?.mark === 'missed') process.exitCode = 1;
    });
}
