import { Command } from 'commander';
import { type Grade, type GradeOptions, gradeLines } from '../../receiver-grader/present-grade.ts';
import { addAccountCommands, addUserCommands } from './account-commands.ts';
import { leaf, type OperationRunner, operation } from './command.ts';
import type { ListenOptions } from './listen.ts';
import { faults, type ProviderFault, providerFaults } from './operations-context.ts';
import { moveLines, type PresentedMove, presentMove, printResult } from './present.ts';

/** Dependencies of the command line. */
interface ProgramServices extends IntegratorServices {
  /** Starts the service and returns when it has stopped. */
  start(options: {
    readonly isLive: boolean;
    readonly role: string;
    readonly isJson: boolean;
  }): Promise<void>;
  /** Creates the data folder and the database if they are missing. */
  init(): Promise<unknown>;
  /** Copies the database into a file, also while a server runs. */
  backUp(file: string): Promise<unknown>;
  /** Checks the configuration and everything it refers to. */
  doctor(): Promise<{ readonly checks: readonly DoctorCheck[] }>;
  /** Deploys a deposit factory with the relayer's key. */
  deployContract(): Promise<unknown>;
  /** Copies a store from one engine to the other and compares both sides. */
  moveStore(places: { readonly from: string; readonly to: string }): Promise<PresentedMove>;
}

/** One check of `doctor`. */
export interface DoctorCheck {
  readonly name: string;
  readonly isFine: boolean;
  /** The finding, and the remedy unless it is fine. */
  readonly detail: string;
}

/** Builds the command line. Each command of it is also a row in docs/command-line.md, which a test compares. */
export function createProgram(services: ProgramServices, version: string): Command {
  const program = new Command('card-checkout')
    .description('Card checkout that settles in USDC on Polygon.')
    .version(version)
    .showHelpAfterError();

  leaf(program, 'start', 'start the service; without --live the sandbox')
    .option('--live', 'live mode, with a validated configuration')
    .option('--role <role>', 'all, api or worker', 'all')
    .action((options: { live?: boolean; role: string; json?: boolean }) =>
      services.start({ isLive: options.live === true, role: options.role, isJson: options.json === true }),
    );
  leaf(program, 'init', 'make the data folder and the database, for commands before the first start').action(
    async (options: { json?: boolean }) => printResult(await services.init(), options),
  );
  addAccountCommands(program, services);
  addUserCommands(program, services);
  addProviderCommands(program, services);
  addPaymentCommands(program, services);
  addSandboxCommands(program, services);
  addIntegratorCommands(program, services);

  const contract = program.command('contract').description('the deposit contract');
  leaf(contract, 'deploy', 'deploy a deposit factory and print its address').action(
    async (options: { json?: boolean }) => printResult(await services.deployContract(), options),
  );
  addKeepingCommands(program, services);
  leaf(program, 'doctor', 'say what is wrong with a configuration').action(
    async (options: { json?: boolean }) => {
      const report = await services.doctor();
      printResult(options.json === true ? report : report.checks.map(describeCheck), options);
      if (report.checks.some((check) => !check.isFine)) process.exitCode = 1;
    },
  );
  leaf(program, 'move-store', 'carry everything from SQLite to PostgreSQL or back, and compare both sides')
    .requiredOption('--from <place>', 'sqlite, postgres, a data folder, a SQLite file or a postgres:// URL')
    .requiredOption('--to <place>', 'the same; it must be empty')
    .action(async ({ json, ...places }: { from: string; to: string; json?: boolean }) => {
      const move = await services.moveStore(places);
      printResult(json === true ? presentMove(move) : moveLines(move), { json: json === true });
      if (!move.isMoved) process.exitCode = 1;
    });
  return program;
}

function describeCheck({ isFine, name, detail }: DoctorCheck): string {
  return `${isFine ? 'ok   ' : 'WRONG'} ${name}: ${detail}`;
}

function addProviderCommands(program: Command, services: ProgramServices): void {
  const provider = program.command('provider').description('on-ramp providers');
  operation(
    leaf(provider, 'list', 'list all providers, and how they have behaved'),
    services,
    'provider list',
  );
  operation(
    leaf(
      provider,
      'check',
      'try a provider with your credentials: a quote and a session, nothing is paid',
    ).argument('<provider>'),
    services,
    'provider check',
    {},
    (report) => {
      if (!(report as { is_fine: boolean }).is_fine) process.exitCode = 1;
    },
  )
    .option('--amount <amount>', 'what would be charged (50, or the least that the provider sells)')
    .option('--currency <currency>', 'USD, EUR, CAD or INR (USD)')
    .option('--country <code>', 'where the customer would live, such as DE');
  operation(leaf(provider, 'set', 'change a provider').argument('<provider>'), services, 'provider set')
    .option('--active', 'offer it')
    .option('--inactive', 'do not offer it')
    .option('--minimum-usd <amount>', 'the least amount in USD');
}

function addPaymentCommands(program: Command, services: ProgramServices): void {
  const payment = program.command('payment').description('payments');
  operation(leaf(payment, 'list', 'list the newest payments'), services, 'payment list')
    .option('--account <account>', 'of this account only')
    .option('--status <status>', 'unpaid, paid or canceled')
    .option('--forward-status <status>', 'with --account: how far the money has come')
    .option('--provider <provider>', 'with --account: multi, direct or a provider')
    .option('--currency <currency>', 'with --account: the checkout’s currency')
    .option('--search <text>', 'with --account: by id, short code, e-mail, note, amount or transaction')
    .option('--before <payment>', 'with --account: those created before this one');
  operation(
    leaf(payment, 'create', 'create a payment that the customer pays from a wallet, in USDC'),
    services,
    'payment create',
  )
    .requiredOption('--account <account>', 'the merchant')
    .requiredOption('--amount <amount>', 'from 0.01 to 10000')
    .requiredOption('--callback <url>', 'where the webhooks go')
    .option('--currency <currency>', 'USD, EUR, CAD or INR (USD)')
    .option('--wallet <address>', 'the payout wallet (that of the account)')
    .option('--email <address>', 'the customer’s e-mail address')
    .option('--note <text>', 'in the webhook and in the preview of the short link');
  for (const [name, description] of [
    ['show', 'show a payment with deposits, releases and webhooks'],
    ['cancel', 'cancel a payment for which nothing has arrived'],
    ['erase-email', 'erase the e-mail address of a payment’s customer'],
    ['release', 'release what lies at the deposit address to the merchant'],
  ] as const) {
    operation(leaf(payment, name, description).argument('<payment>'), services, `payment ${name}`);
  }
  operation(
    leaf(payment, 'rescue', 'send a wrong token at the deposit address to the merchant').argument(
      '<payment>',
    ),
    services,
    'payment rescue',
  ).requiredOption('--token <address>', 'the token’s address, or pol');
}

function addKeepingCommands(program: Command, services: ProgramServices): void {
  operation(
    leaf(program, 'verify', 'replay every payment against the journal and the chain'),
    services,
    'verify',
    {},
    (report) => {
      if ((report as { discrepancy_count: number }).discrepancy_count > 0) process.exitCode = 1;
    },
  ).option('--offline', 'compare the database with itself alone');
  leaf(program, 'backup', 'copy the database into a new file, also while the service runs')
    .argument('<file>')
    .action(async (file: string, options: { json?: boolean }) =>
      printResult(await services.backUp(file), options),
    );
}

function addSandboxCommands(program: Command, services: ProgramServices): void {
  const sandbox = program.command('sandbox').description('simulate what is outside the service');
  operation(
    leaf(sandbox, 'pay', 'play the customer to the end of the on-ramp, or from a wallet').argument(
      '<payment>',
    ),
    services,
    'sandbox pay',
  )
    .option('--provider <provider>', 'pay at this provider')
    .option('--usdc <amount>', 'deliver this amount instead of the quoted one');

  const fault = sandbox.command('fault').description('bring the unhappy cases about');
  for (const target of ['provider', 'rates', 'chain'] as const) {
    const command = leaf(fault, target, `break or mend: ${target}`);
    if (target === 'provider') command.argument('<provider>');
    operation(command, services, 'sandbox fault', { target });
    const names = target === 'provider' ? (Object.keys(providerFaults) as ProviderFault[]) : faults;
    for (const name of names) command.option(`--${name}`, providerFaults[name]);
  }
}

/** Dependencies of the commands for integrators. */
interface IntegratorServices extends OperationRunner {
  /** Tries a webhook receiver from this process. */
  grade(options: GradeOptions): Promise<Grade>;
  /** Prints the sandbox's events as they are sent, until it is stopped. */
  listen(options: ListenOptions): Promise<void>;
}

/** The commands for integrators. */
function addIntegratorCommands(program: Command, services: IntegratorServices): void {
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
