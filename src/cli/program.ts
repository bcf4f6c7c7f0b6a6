import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { invalidField } from '../payment/errors.ts';
import { faults, type ProviderFault, providerFaults } from '../payment/test-payments.ts';
import type { StoreMove } from '../store/move-tables.ts';
import { addAccountCommands, addUserCommands } from './account-commands.ts';
import { leaf, type OperationRunner, operationsOf, printed } from './command.ts';
import { addGradeCommand, type Grade, type GradeOptions } from './grade/grade-command.ts';
import type { EventFields } from './grade/stand-in-service.ts';
import type { AuditPortion } from './operations.ts';
import type { OperationArguments } from './operations-context.ts';
import { listColumns, printResult } from './present.ts';
import { runLong } from './run-long.ts';

export interface ListenOptions {
  /** Endpoint to which each event is forwarded; without it, events are only printed. */
  readonly forwardTo?: string;
  readonly isJson: boolean;
}

export interface FeatureCommands {
  /** Name of the features' records, for the help of `payment show`. */
  readonly shown: string;
  readonly sandbox: readonly (readonly [usage: string, description: string])[];
  readonly eventFields: EventFields;
}

interface ProgramServices extends OperationRunner {
  readonly features: FeatureCommands;
  start(options: {
    readonly isLive: boolean;
    readonly role: string;
    readonly isJson: boolean;
  }): Promise<void>;
  /** Asks the operator a question; null if the input is not a terminal. */
  readonly ask: ((question: string) => Promise<string>) | null;
  init(): Promise<unknown>;
  migrate(isPlan: boolean): Promise<unknown>;
  backUp(file: string): Promise<unknown>;
  doctor(onCheck: (check: DoctorCheck) => void): Promise<CheckReport>;
  rehearse(onStep: (step: DoctorCheck) => void): Promise<CheckReport>;
  deployContract(): Promise<unknown>;
  createRelayerKey(): Promise<unknown>;
  showRelayers(): Promise<unknown>;
  moveStore(places: { readonly from: string; readonly to: string }): Promise<StoreMove>;
  /** Prints the sandbox's events as they are sent, until the user stops the command. */
  listen(options: ListenOptions): Promise<void>;
  grade(options: GradeOptions): Promise<Grade>;
}

interface CheckReport {
  readonly checks: readonly DoctorCheck[];
}

export interface DoctorCheck {
  readonly name: string;
  /** `warn`: the service runs, but something is missing. `fail`: it does not run, or customers cannot pay. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly isFine: boolean;
  /** The finding and, unless the level is `ok`, what to do. */
  readonly detail: string;
  /** Last lines of the service's log if the step failed. */
  readonly log?: readonly string[];
}

/** Creates the command line. A test compares the commands with docs/command-line.md. */
export function createProgram(services: ProgramServices, version: string): Command {
  const program = new Command('card-checkout')
    .description('Card checkout that settles in USDC on Polygon.')
    .version(version)
    .showHelpAfterError();

  leaf(program, 'start', 'start the sandbox, or with --live the service')
    .option('--live', 'live mode: validates the configuration and uses the real chain and providers')
    .option('--role <role>', 'what this process runs: all, api or worker', 'all')
    .action((options: { live?: boolean; role: string; json?: boolean }) =>
      services.start({ isLive: options.live === true, role: options.role, isJson: options.json === true }),
    );
  leaf(program, 'init', 'create the data folder and the database before the first start').action(
    printed(() => services.init()),
  );
  leaf(program, 'migrate', 'bring the database of an older version to the schema of this one')
    .option('--plan', 'only say what would be done')
    .action(async (options: { plan?: boolean; json?: boolean }) =>
      printResult(await services.migrate(options.plan === true), options),
    );
  addAccountCommands(program, services);
  addUserCommands(program, services);
  addProviderCommands(program, services);
  addPaymentCommands(program, services);
  const chain = operationsOf(program.command('chain').description('what was read of the chain'), services);
  chain('rewind', 'scan final blocks again that you know the chain has replaced').option(
    '--block <number>',
    'the newest block to keep (the newest scanned one that the chain still has)',
  );
  const event = program.command('event').description('the event log of an account');
  operationsOf(event, services)('list', 'list what happened to the payments of an account')
    .requiredOption('--account <account>', 'the merchant')
    .option('--after <number>', 'the number of the last event that you have read (0)');
  addAuditCommand(program, services);
  addSandboxCommands(program, services);
  addIntegratorCommands(program, services);

  const contract = program.command('contract').description('the deposit contract');
  leaf(contract, 'deploy', 'deploy a deposit factory and print its address').action(
    printed(() => services.deployContract()),
  );
  const relayer = program.command('relayer').description('the keys that pay the gas of releases');
  leaf(relayer, 'create', 'make a key and print it once, with its address').action(
    printed(() => services.createRelayerKey()),
  );
  leaf(
    relayer,
    'show',
    'show address and balance of each key, and about how many payments it releases',
  ).action(printed(() => services.showRelayers()));
  addKeepingCommands(program, services);
  addCheckingCommand(program, 'doctor', 'check the configuration and its connections', (onCheck) =>
    services.doctor(onCheck),
  );
  addCheckingCommand(
    program,
    'rehearse',
    'take a payment in live mode with your configuration, on a local chain and with simulated providers',
    (onStep) => services.rehearse(onStep),
  );
  const webhook = program.command('webhook').description('webhook endpoints');
  addCheckingCommand(webhook, 'check <url>', 'test an endpoint without an event', async (_, url) => {
    const report = await services.runOperation('webhook check', { url });
    return report as CheckReport;
  });
  leaf(program, 'move-store', 'copy all data from SQLite to PostgreSQL or back, and compare both')
    .requiredOption('--from <place>', 'sqlite, postgres, a data folder, a SQLite file or a postgres:// URL')
    .requiredOption('--to <place>', 'the same; the database must be empty')
    .action(async ({ json, ...places }: { from: string; to: string; json?: boolean }) => {
      const move = await services.moveStore(places);
      if (!move.moved) process.exitCode = 1;
      if (json === true) return printResult(move, { json });
      printResult(move.tables, { columns: listColumns['move-store'] });
      printResult(
        move.moved
          ? 'All data was copied, and both databases are equal.'
          : 'The databases differ. Nothing was copied: the target is empty.',
        {},
      );
    });
  return program;
}

/** Adds a command that runs several checks and prints each finding as a line, immediately or at the end. */
function addCheckingCommand(
  program: Command,
  name: string,
  description: string,
  run: (onCheck: (check: DoctorCheck) => void, argument?: string) => Promise<CheckReport>,
): void {
  leaf(program, name, description).action(async function (this: Command) {
    const options = this.opts<{ json?: boolean }>();
    let printed = 0;
    const print = ({ level, name, detail, log = [] }: DoctorCheck) => {
      printed++;
      if (options.json !== true)
        printResult([`${level.padEnd(5)} ${name}: ${detail}`, ...log.map((line) => `        ${line}`)], {});
    };
    const report = await run(print, this.args[0]);
    report.checks.slice(printed).forEach(print);
    if (options.json === true) printResult(report, options);
    if (report.checks.some((check) => !check.isFine)) process.exitCode = 1;
  });
}

function addProviderCommands(program: Command, services: ProgramServices): void {
  const group = program.command('provider').description('on-ramp providers');
  const provider = operationsOf(group, services);
  provider('list', 'list all providers and their health');
  provider('check <provider>', 'test your credentials with a quote and a session, without a payment')
    .option('--amount <amount>', 'the charge (50, or just above the provider’s minimum if that is more)')
    .option('--currency <currency>', 'USD, EUR, CAD or INR (USD)')
    .option('--country <code>', 'the customer’s country, such as DE')
    .option('--ip <address>', 'the public IP address of the customer');
  addProveCommand(group, services);
  addCheckingCommand(
    group,
    'watch [provider]',
    'compare answers with those recorded, of one provider or all, without a session',
    async (_, provider) => (await services.runOperation('provider watch', { provider })) as CheckReport,
  );
  provider('set <provider>', 'change the settings of a provider')
    .option('--active', 'offer the provider')
    .option('--inactive', 'disable the provider')
    .option('--pin', 'let it lead the list where it can serve')
    .option('--unpin', 'order it by what can be expected')
    .option('--minimum-usd <amount>', 'the minimum amount in USD');
}

/** Adds `provider prove`, which writes the recorded answers on the caller's machine, not on the server's. */
function addProveCommand(group: Command, services: ProgramServices): void {
  leaf(group, 'prove', 'prove an account step by step, and keep the evidence')
    .argument('<provider>')
    .option('--amount <amount>', 'the charge (50, or just above the provider’s minimum if that is more)')
    .option('--currency <currency>', 'USD, EUR, CAD or INR (USD)')
    .option('--country <code>', 'the customer’s country, such as DE')
    .option('--ip <address>', 'the public IP address from which you open the page')
    .option('--fixtures <folder>', 'write the provider’s answers, redacted, to a file in this folder')
    .option('--confirm', 'the page showed the five facts, and the altered copy was refused')
    .option('--purchase', 'create the checkout of a real purchase, just above the minimum')
    .option('--account <account>', 'with --purchase: the account, with a wallet and a default callback')
    .option('--spend-up-to <amount>', 'with --purchase: the most that it may cost, in USD')
    .option('--payment <payment>', 'record this paid payment as the purchase')
    .action(async (name: string, { json, spendUpTo, ...options }: ProveOptions) => {
      const other = ['confirm', 'purchase', 'payment'].find((option) => options[option] !== undefined);
      if (options.fixtures !== undefined && other !== undefined)
        throw invalidField(
          '--fixtures',
          `cannot be combined with --${other}, which asks the provider nothing`,
        );
      const ask = json === true ? null : services.ask;
      const isLimitMissing = options['purchase'] === true && spendUpTo === undefined;
      const limit = isLimitMissing && ask !== null ? await ask(SPENDING_QUESTION) : spendUpTo;
      const args = { provider: name, ...options, 'spend-up-to': limit };
      const { fixtures, ...result } = (await services.runOperation('provider prove', args)) as ProveResult;
      const file = options.fixtures === undefined ? null : join(options.fixtures, `${name}.json`);
      if (file !== null) {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, `${JSON.stringify(fixtures, null, 2)}\n`);
      }
      const report = { ...result, ...(file === null ? {} : { fixtures: file }) };
      if (result.is_fine === false) process.exitCode = 1;
      if (ask === null || result.confirm === undefined) return printResult(report, { json: json === true });
      const { confirm, ...asking } = report;
      printResult(asking, {});
      if (!(await confirmsPages(ask, result.facts ?? {}))) {
        process.exitCode = 1;
        return printResult(`Not confirmed. Once both pages pass, run: ${confirm}`, {});
      }
      const confirmed = await services.runOperation('provider prove', { provider: name, confirm: true });
      const { evidence, next } = confirmed as ProveResult;
      printResult({ evidence, next }, {});
    });
}

const SPENDING_QUESTION = 'The most that the purchase may cost, in USD: ';

/** Asks whether each statement of `--confirm` is true. Any answer other than yes means no confirmation. */
async function confirmsPages(
  ask: (question: string) => Promise<string>,
  { amount, currency, asset, network, wallet }: Readonly<Record<string, string>>,
): Promise<boolean> {
  const questions = [
    `Does the page at url show ${amount} ${currency}?`,
    `Does it show ${asset} on ${network}?`,
    `Does it show the wallet ${wallet}, in full or shortened?`,
    'Does the page at altered_url refuse, or show the same wallet?',
  ];
  for (const question of questions)
    if (!/^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim())) return false;
  return true;
}

interface ProveOptions extends Record<string, string | boolean | undefined> {
  readonly json?: boolean;
  readonly fixtures?: string;
  readonly spendUpTo?: string;
}

interface ProveResult {
  readonly is_fine?: boolean;
  readonly fixtures?: unknown;
  readonly evidence?: string;
  readonly next?: string;
  /** Command with which an operator confirms the page. Absent if the run had failures. */
  readonly confirm?: string;
  /** Values that the page must show, after a run. */
  readonly facts?: Readonly<Record<string, string>>;
}

function addPaymentCommands(program: Command, services: ProgramServices): void {
  const payment = operationsOf(program.command('payment').description('payments'), services);
  payment('list', 'list the newest payments')
    .option('--account <account>', 'only payments of this account')
    .option('--status <status>', 'unpaid, paid or canceled')
    .option('--forward-status <status>', 'with --account: the progress of the release')
    .option('--provider <provider>', 'with --account: multi, direct or a provider')
    .option('--currency <currency>', 'with --account: the checkout’s currency')
    .option(
      '--search <text>',
      'with --account: an id, short code, email address, note, amount or transaction',
    )
    .option('--before <payment>', 'with --account: payments created before this one');
  payment('create', 'create a direct payment, which the customer pays in USDC from a wallet')
    .requiredOption('--account <account>', 'the merchant')
    .requiredOption('--amount <amount>', 'from 0.01 to 10000')
    .requiredOption('--callback <url>', 'the webhook URL')
    .option('--currency <currency>', 'USD, EUR, CAD or INR (USD)')
    .option('--wallet <address>', 'the payout wallet (the account’s wallet)')
    .option('--confirm-wallet', 'accept a wallet that looks like a mistake')
    .option('--email <address>', 'the customer’s email address')
    .option('--note <text>', 'shown in the webhook and in the preview of the short link');
  payment(
    'show <payment>',
    `show a payment with deposits, releases, webhooks and ${services.features.shown}`,
  );
  payment('cancel <payment>', 'cancel a payment for which less than 0.01 USDC has arrived');
  payment('erase-email <payment>', 'erase the email address of a payment’s customer');
  payment('release <payment>', 'release the USDC held at the deposit address to the merchant');
  payment(
    'rescue <payment>',
    'send a token other than USDC from the deposit address to the merchant',
  ).requiredOption('--token <address>', 'the token’s address, or pol');
  payment('rebuild <payment>', 'store a payment that a restore lost, and release its USDC to the merchant')
    .requiredOption('--account <account>', 'the merchant')
    .option('--wallet <address>', 'the payout wallet at its creation (the account’s wallet)')
    .option('--confirm-wallet', 'accept a wallet that looks like a mistake')
    .option('--fee-percent <percent>', 'the card fee at its creation (the account’s)');
}

function addKeepingCommands(program: Command, services: ProgramServices): void {
  const operation = operationsOf(program, services);
  operation('verify', 'compare every payment with the journal and the chain').option(
    '--offline',
    'check the database only, without the chain',
  );
  leaf(program, 'backup', 'copy the database to a new file; works while the service runs')
    .argument('<file>')
    .action(printed((file) => services.backUp(file)));
  operationsOf(program, services)(
    'restore',
    'after the database was restored and before the first start: no event is sent a second time',
  );
}

/** Adds a command that reads and prints the audit log in portions. */
function addAuditCommand(program: Command, services: ProgramServices): void {
  const group = program.command('audit').description('who did what');
  leaf(group, 'export', 'print the audit log, newest first, one JSON object a line')
    .option('--account <account>', 'only this account, or “service” for actions on the service as a whole')
    .option('--from <time>', 'from this time on, such as 2026-11-01 or 2026-11-01T12:00:00Z')
    .option('--before <time>', 'before this time')
    .option('--csv', 'print CSV')
    .action(async (query: OperationArguments) => {
      await runLong('audit export', query['json'] === true, async (onProgress, _, clear) => {
        let done = 0;
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page = (await services.runOperation('audit export', { ...query, cursor })) as AuditPortion;
          clear();
          // Waits for a slow reader before the next portion.
          if (!process.stdout.write(page.lines)) await once(process.stdout, 'drain');
          cursor = page.next;
          done += page.lines.split('\n').length - 1;
          onProgress({ unit: 'lines', done, total: cursor === null ? done : null });
        }
      });
    });
}

function addSandboxCommands(program: Command, services: ProgramServices): void {
  const group = program.command('sandbox').description('simulated customers and faults');
  const sandbox = operationsOf(group, services);
  sandbox('pay <payment>', 'pay a payment like a customer, at an on-ramp or from a wallet')
    .option('--provider <provider>', 'pay at this provider (the one that the page recommends)')
    .option('--usdc <amount>', 'deliver this amount instead of the quoted one');

  for (const [usage, description] of services.features.sandbox) sandbox(usage, description);

  const fault = operationsOf(group.command('fault').description('inject faults'), services);
  for (const [usage, where] of [
    ['provider <provider>', 'a simulated provider'],
    ['rates', 'the exchange rates'],
    ['chain', 'the local chain'],
  ] as const) {
    const target = usage.split(' ')[0];
    const options = { name: 'sandbox fault', fixed: { target } };
    const command = fault(usage, `inject a fault into ${where}`, options);
    const names = target === 'provider' ? (Object.keys(providerFaults) as ProviderFault[]) : faults;
    for (const name of names) command.option(`--${name}`, providerFaults[name]);
  }
}

function addIntegratorCommands(program: Command, services: ProgramServices): void {
  leaf(program, 'listen', 'print copies of the sandbox’s events as they are sent, and forward them')
    .option('--forward-to <url>', 'forward each event to this endpoint, body and signatures unchanged')
    .action(({ json, forwardTo }: { forwardTo?: string; json?: boolean }) =>
      services.listen({ isJson: json === true, ...(forwardTo === undefined ? {} : { forwardTo }) }),
    );
  operationsOf(program, services)(
    'trigger',
    'create and pay a payment in the sandbox, and wait until its event is sent',
  )
    .argument('<event>', 'payment.paid or payment.forwarded')
    .option('--amount <amount>', 'in USD (25.00)')
    .option('--callback <url>', 'the webhook URL (the account’s default, else an endpoint of the sandbox)')
    .option('--account <account>', 'the account of the payment (the demo account)')
    .option('--payment <payment>', 'pay this payment, which your shop created, in place of a new one')
    .option('--order-url <url>', 'pay the checkout that your shop creates after a POST to this URL');
  addGradeCommand(program, (options) => services.grade(options));
}
