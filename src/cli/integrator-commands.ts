import type { Command } from 'commander';
import { leaf, type OperationRunner, operation } from './command.ts';
import { type Grade, type GradeOptions, gradeLines } from './grade/present-grade.ts';
import type { ListenOptions } from './listen/listen.ts';
import { printResult } from './print.ts';

/** What the commands for integrators ask of the rest of the program. */
export interface IntegratorServices extends OperationRunner {
  /** Tries a webhook receiver from this process. */
  grade(options: GradeOptions): Promise<Grade>;
  /** Shows the sandbox's events as they are sent, until somebody stops it. */
  listen(options: ListenOptions): Promise<void>;
}

/** For those who write the shop. */
export function addIntegratorCommands(program: Command, services: IntegratorServices): void {
  leaf(program, 'listen', 'show copies of the sandbox’s events as they are sent, and forward them')
    .option('--forward-to <url>', 'hand each to this endpoint too, body and signature unchanged')
    .action(({ json, forwardTo }: { forwardTo?: string; json?: boolean }) =>
      services.listen({ isJson: json === true, ...(forwardTo === undefined ? {} : { forwardTo }) }),
    );
  operation(
    leaf(
      program,
      'trigger',
      'make a payment in the sandbox and play it to its end, until its event was sent',
    ).argument('<event>', 'payment.paid or payment.forwarded'),
    services,
    'trigger',
  )
    .option('--amount <amount>', 'in USD (25.00)')
    .option('--callback <url>', 'where the event goes (the account’s, else nowhere but to those who listen)')
    .option('--account <account>', 'whose payment it is (the demo account)');
  addGradeCommand(program, services);
}

function addGradeCommand(program: Command, services: IntegratorServices): void {
  leaf(
    program,
    'grade',
    'try a webhook receiver: say which of the five obligations it meets, and how to mend the rest',
  )
    .argument('<url>')
    .option('--order-url <url>', 'a POST here makes the shop create a checkout; else create them by hand')
    .option('--probe-url <url>', 'a GET here tells {"fulfilments": 1} of the order with {payment_id}')
    .option('--port <port>', 'where the stand-in service listens that the shop must use', '4100')
    .option(
      '--payment <payment>',
      'for a shop that asks its own service: a checkout of it that nobody has paid',
    )
    .option('--ipn-token <token>', 'with --payment: its ipn_token')
    .option('--amount <amount>', 'with --payment: its amount, in USD (25.00)')
    .action(async (url: string, { json, ...options }: Omit<GradeOptions, 'url'> & { json?: boolean }) => {
      const grade = await services.grade({ url, ...options });
      printResult(json === true ? grade : gradeLines(grade), { json: json === true });
      if (grade.findings.some(({ mark }) => mark === 'missed' || mark === 'not_seen')) process.exitCode = 1;
    });
}
