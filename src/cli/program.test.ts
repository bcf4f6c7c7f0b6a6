import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoreMove } from '../store/move-tables.ts';
import type { Grade } from './grade/grade-command.ts';
import { operations } from './operations.ts';
import { sandboxOperationNames } from './operations-context.ts';
import { createProgram, type DoctorCheck } from './program.ts';

let calls: unknown[][];
let checks: DoctorCheck[];
let move: StoreMove;
let grade: Grade;
let failure: Error | null;
let answers: Record<string, unknown>;
let ask: ((question: string) => Promise<string>) | null;
let out: string;
let err: string;

beforeEach(() => {
  [calls, checks, failure, answers, out, err] = [[], [], null, {}, '', ''];
  move = { tables: [], moved: true };
  grade = { met: 0, findings: [], events: null };
  ask = null;
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += String(chunk);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** Creates the program with services that only record their calls. */
function recordingProgram(): Command {
  async function record<T>(answer: T, ...call: unknown[]): Promise<T> {
    calls.push(call);
    if (failure !== null) throw failure;
    return answer;
  }
  const program = createProgram(
    {
      features: { shown: 'refunds', sandbox: [['refund <refund>', 'transfer']], eventFields: {} },
      start: (options) => record(undefined, 'start', options),
      runOperation: (name, args) => record({ done: name, ...answers }, name, args),
      ask,
      init: () => record({ created: true }, 'init'),
      migrate: (isPlan) => record({ migrated: !isPlan }, 'migrate', isPlan),
      backUp: (file) => record({ file }, 'backup', file),
      doctor: (onCheck) => {
        for (const check of checks.slice(0, 1)) onCheck(check);
        return record({ checks }, 'doctor');
      },
      rehearse: async (onStep) => {
        checks.forEach(onStep);
        return record({ checks }, 'rehearse');
      },
      deployContract: () => record({ deposit_factory_address: '0x1' }, 'contract deploy'),
      createRelayerKey: () => record({ address: '0x2' }, 'relayer create'),
      showRelayers: () => record([{ address: '0x2' }], 'relayer show'),
      moveStore: (places) => record(move, 'move-store', places),
      grade: (options) => record(grade, 'grade', options),
      listen: (options) => record(undefined, 'listen', options),
    },
    '1.2.3',
  );
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        out += text;
      },
      writeErr: (text) => {
        err += text;
      },
    });
  }
  return program;
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** Returns a command's words without the program's name. */
function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

const leaves = () => everyCommand(recordingProgram()).filter(({ commands }) => commands.length === 0);

const type = (...words: string[]) => recordingProgram().parseAsync(words, { from: 'user' });

/** Operations with the names of their positional arguments, in order, and the rest of command lines that run them. */
const lines: readonly (readonly [operation: string, names: string, ...options: string[]])[] = [
  ['user create', 'email', 'a@b.example --account acc_1 --role viewer --operator'],
  ['user update', 'email', 'a@b.example --operator', 'a@b.example --operator --existing'],
  ['user update', 'email', 'a@b.example --no-operator'],
  ['user list', '', ''],
  ['user reset-second-factor', 'email', 'a@b.example'],
  ['user reset-link', 'email', 'a@b.example'],
  ['account create', '', '--name Shop', '--name Shop --email a@b.example --fee-percent 2.5 --wallet 0x1'],
  ['account list', '', ''],
  [
    'account update',
    'account',
    'acc_1 --fee-percent 1 --wallet 0x1 --enable f --disable g --providers a,b --suspend',
    '--resume acc_1',
    'acc_1 --trouble-mails off --direct-cent-tolerance on --email-retention 90',
  ],
  ['account erase-emails', 'account', 'acc_1 --older-than-days 90'],
  ['key create', '', '--account acc_1 --name web'],
  ['key list', '', '--account acc_1'],
  ['key revoke', 'key', 'key_1'],
  ['provider list', '', ''],
  ['provider check', 'provider', 'moonpay --amount 20 --currency EUR --country DE'],
  ['provider prove', 'provider', 'wert --ip 203.0.113.7 --purchase --spend-up-to 5'],
  ['provider set', 'provider', 'wert --active', 'wert --inactive --minimum-usd 5'],
  ['payment list', '', '', '--account acc_1 --status paid'],
  ['payment list', '', '--account acc_1 --search shoes --forward-status failed --before id'],
  ['payment create', '', '--account a --amount 25 --callback https://shop.example/hook'],
  [
    'payment create',
    '',
    '--account a --amount 25 --callback https://x --currency EUR --wallet 0x1 --email a@b.example --note n',
  ],
  ['payment show', 'payment', 'id'],
  ['payment cancel', 'payment', 'id'],
  ['payment erase-email', 'payment', 'id'],
  ['payment release', 'payment', 'id'],
  ['payment rescue', 'payment', 'id --token pol'],
  ['payment rebuild', 'payment', 'id --account acc_1', 'id --account acc_1 --wallet 0x1 --fee-percent 2'],
  ['event list', '', '--account acc_1 --after 3'],
  ['chain rewind', '', '', '--block 7'],
  ['verify', '', '', '--offline'],
  ['restore', '', ''],
  ['sandbox refund', 'refund', 'id'],
  ['sandbox pay', 'payment', 'id', 'id --provider wert --usdc 1'],
  ['sandbox fault', 'target provider', 'provider wert --down', 'rates --slow', 'chain --up'],
  ['trigger', 'event', 'payment.paid'],
  ['trigger', 'event', 'payment.forwarded --amount 5 --callback https://shop.example/hook --account acc_1'],
];
/** Options without a value. */
const flags =
  /^--(?:(?:no-)?operator|existing|suspend|resume|purchase|active|inactive|offline|down|slow|up)$/;

/** Returns the arguments, by name, that a command line passes to its operation. */
function argumentsIn(names: string, options: string): Record<string, string | boolean> {
  const [words, named] = [options.split(' ').filter((word) => word !== ''), names.split(' ')];
  const args: Record<string, string | boolean> = {};
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (flags.test(word)) args[word.replace(/^--(no-)?/, '')] = !word.startsWith('--no-');
    else if (word.startsWith('--')) args[word.slice(2)] = words.shift() ?? '';
    else args[named.shift() ?? ''] = word;
  }
  return args;
}

const commandLines = lines.flatMap(([operation, names, ...all]) =>
  all.map((options) => [`${operation} ${options}`.trim(), operation, argumentsIn(names, options)] as const),
);

describe('the command line', () => {
  it('takes --json with every command, and describes every command and option', () => {
    for (const command of leaves()) {
      expect(
        command.options.map(({ long }) => long),
        pathOf(command),
      ).toContain('--json');
      for (const { description } of command.options) expect(description).not.toBe('');
    }
    for (const command of everyCommand(recordingProgram()))
      expect(command.description(), pathOf(command)).not.toBe('');
  });

  it.each(commandLines)(
    '“%s” runs the operation “%s” with %j, also with --json',
    async (line, name, args) => {
      await type(...line.split(' '));
      expect([calls, out, err]).toEqual([[[name, args]], `done  ${name}\n`, '']);
      [calls, out] = [[], ''];
      await type(...line.split(' '), '--json');
      expect(calls).toEqual([[name, args]]);
      expect(JSON.parse(out)).toEqual({ done: name });
    },
  );

  it('reaches every operation there is, and names none that is not', () => {
    // Operations without a line above. For example, `listen` polls, and `doctor` runs `database show`.
    const special = ['listen', 'webhook check', 'provider watch', 'database show', 'audit export'];
    expect([...new Set(commandLines.map(([, name]) => name)), ...special].sort()).toEqual(
      [...Object.keys(operations), ...sandboxOperationNames, 'sandbox refund'].sort(),
    );
  });

  it('prints an export in portions, and waits for a slow reader before it reads the next one', async () => {
    answers = { lines: '{"position":1}\n', next: '1.acc_1.1' };
    vi.mocked(process.stdout.write).mockImplementationOnce((chunk) => {
      out += String(chunk);
      setTimeout(() => {
        expect(calls).toHaveLength(1);
        answers = { lines: 'end\n', next: null };
        process.stdout.emit('drain');
      }, 50);
      return false;
    });
    await type('audit', 'export', '--from', '2026-11-01', '--csv');
    const query = { from: '2026-11-01', csv: true };
    expect(calls).toEqual([
      ['audit export', { ...query, cursor: '' }],
      ['audit export', { ...query, cursor: '1.acc_1.1' }],
    ]);
    expect(out).toBe('{"position":1}\nend\n');
  });

  it.each([
    [['listen'], { isJson: false }],
    [
      ['listen', '--forward-to', 'http://localhost:4000/hook', '--json'],
      { isJson: true, forwardTo: 'http://localhost:4000/hook' },
    ],
  ])('%j asks for %j', async (words, options) => {
    await type(...words);
    expect(calls).toEqual([['listen', options]]);
  });

  it.each([
    [[], { isLive: false, role: 'all', isJson: false }],
    [['--live'], { isLive: true, role: 'all', isJson: false }],
    [['--live', '--role', 'api', '--json'], { isLive: true, role: 'api', isJson: true }],
  ])('start %j asks for %j', async (words, options) => {
    await type('start', ...words);
    expect(calls).toEqual([['start', options]]);
  });

  it('contract deploy prints what was deployed', async () => {
    await type('contract', 'deploy', '--json');
    expect(calls).toEqual([['contract deploy']]);
    expect(JSON.parse(out)).toEqual({ deposit_factory_address: '0x1' });
  });

  it('backup asks for a file and prints what it wrote', async () => {
    await type('backup', 'copy.sqlite', '--json');
    expect(calls).toEqual([['backup', 'copy.sqlite']]);
    expect(JSON.parse(out)).toEqual({ file: 'copy.sqlite' });
  });

  it.each([
    [0, undefined],
    [1, 1],
  ])('verify that finds %j discrepancies sets the exit code %j', async (count, exitCode) => {
    answers = { discrepancy_count: count };
    await type('verify');
    expect(out).toContain(`discrepancy_count  ${count}`);
    expect(process.exitCode).toBe(exitCode);
  });

  it('--version prints the version', async () => {
    await expect(type('--version')).rejects.toMatchObject({ exitCode: 0 });
    expect(out).toBe('1.2.3\n');
  });
});

describe('provider prove on a terminal', () => {
  const facts = { amount: '50.00', currency: 'EUR', asset: 'USDC', network: 'Polygon', wallet: '0xabc' };
  let asked: string[];

  function answerWith(...typed: readonly string[]): void {
    asked = [];
    ask = async (question) => {
      asked.push(question);
      return typed[asked.length - 1] ?? '';
    };
  }

  it('confirms the pages once every question is answered with yes', async () => {
    answers = { is_fine: true, facts, confirm: 'provider prove wert --confirm' };
    answerWith('y', 'yes', 'Y', 'y');
    await type('provider', 'prove', 'wert');
    expect(asked[0]).toBe('Does the page at url show 50.00 EUR? [y/N] ');
    expect(asked).toHaveLength(4);
    expect(calls).toEqual([
      ['provider prove', { provider: 'wert' }],
      ['provider prove', { provider: 'wert', confirm: true }],
    ]);
    expect(out).not.toContain('--confirm');
  });

  it.each([['--confirm'], ['--purchase'], ['--payment', 'a payment']])(
    'takes no fixtures with %s, which has none',
    async (option, ...value) => {
      const typed = type('provider', 'prove', 'wert', '--fixtures', 'kept', option, ...value);
      await expect(typed).rejects.toThrow(`--fixtures cannot be combined with ${option}`);
      expect(calls).toEqual([]);
    },
  );

  it.each([
    [['y', 'y', 'n'], true, 3],
    [['y', ''], true, 2],
    [['y', 'y', 'y', 'y'], false, 0],
  ])('confirms nothing after %j where the run succeeded is %j', async (typed, isFine, questions) => {
    answers = { is_fine: isFine, facts, ...(isFine ? { confirm: 'provider prove wert --confirm' } : {}) };
    answerWith(...typed);
    await type('provider', 'prove', 'wert');
    expect(asked).toHaveLength(questions);
    expect(calls).toHaveLength(1);
    expect(process.exitCode).toBe(1);
    expect(out.includes('Not confirmed. Once both pages pass, run: provider prove wert --confirm')).toBe(
      isFine,
    );
  });

  it('asks for the spending limit of a purchase where it is missing, and nothing with --json', async () => {
    answerWith('25');
    await type('provider', 'prove', 'wert', '--purchase');
    expect(calls).toEqual([['provider prove', { provider: 'wert', purchase: true, 'spend-up-to': '25' }]]);
    answers = { is_fine: true, facts, confirm: 'provider prove wert --confirm' };
    answerWith('y', 'y', 'y', 'y');
    await type('provider', 'prove', 'wert', '--json');
    expect(asked).toEqual([]);
  });
});

describe('doctor', () => {
  const fine = { name: 'store', level: 'ok', isFine: true, detail: 'opens' } as const;
  const doubtful = { name: 'smtp', level: 'warn', isFine: true, detail: 'set SMTP_URL' } as const;
  const wrong = { name: 'chain', level: 'fail', isFine: false, detail: 'does not answer' } as const;

  it('says what it found, and ends with 0 when nothing has failed', async () => {
    checks = [fine, doubtful];
    await type('doctor');
    expect(out).toBe('ok    store: opens\nwarn  smtp: set SMTP_URL\n');
    expect(process.exitCode).toBeUndefined();
  });

  it('ends with 1 when something has failed, with --json too', async () => {
    checks = [fine, doubtful, wrong];
    await type('doctor');
    expect(out).toBe('ok    store: opens\nwarn  smtp: set SMTP_URL\nfail  chain: does not answer\n');
    expect(process.exitCode).toBe(1);
    [out, process.exitCode] = ['', undefined];
    await type('doctor', '--json');
    expect(JSON.parse(out)).toEqual({ checks: [fine, doubtful, wrong] });
    expect(process.exitCode).toBe(1);
  });
});

it('webhook check prints a line for each step, and ends with 1 when one has failed, with --json too', async () => {
  const step = { name: 'DNS', level: 'fail', isFine: false, detail: 'does not exist' };
  answers = { checks: [step] };
  await type('webhook', 'check', 'https://shop.example/hook');
  expect(calls).toEqual([['webhook check', { url: 'https://shop.example/hook' }]]);
  expect([out, process.exitCode]).toEqual(['fail  DNS: does not exist\n', 1]);
  [out, process.exitCode] = ['', undefined];
  await type('webhook', 'check', 'https://shop.example/hook', '--json');
  expect(JSON.parse(out)).toMatchObject({ checks: [step] });
  expect(process.exitCode).toBe(1);
});

describe('grade', () => {
  const finding = (mark: 'met' | 'missed', problems: string[]) => ({
    obligation: '2. verify the signature',
    mark,
    problems,
    mend: mark === 'met' ? null : 'Compare it.',
  });

  it('says what is missed and how to mend it, and ends with 1', async () => {
    grade = {
      met: 1,
      findings: [finding('met', []), finding('missed', ['a forged one: it answered 200'])],
      events: null,
    };
    const line = 'grade https://shop.example/hook --order-url http://localhost:4000/orders --port 4200';
    await type(...line.split(' '));
    expect(calls).toEqual([
      ['grade', { url: 'https://shop.example/hook', orderUrl: 'http://localhost:4000/orders', port: '4200' }],
    ]);
    expect(out.split('\n')).toEqual([
      'met      2. verify the signature',
      'MISSED   2. verify the signature',
      '           a forged one: it answered 200',
      '         → Compare it.',
      '1 of 2',
      '',
    ]);
    expect(process.exitCode).toBe(1);
  });

  const met = finding('met', []);
  const other = (mark: 'not_checked' | 'not_seen') => ({ ...met, mark, mend: 'Ask us.' });
  const events = { obligation: 'recommended', problems: [], mend: 'Follow it.' };
  it.each<[string, typeof grade, string, number | undefined]>([
    ['full marks', { met: 1, findings: [met], events: null }, '1 of 1\n', undefined],
    [
      'what could not be checked',
      { met: 1, findings: [met, other('not_checked')], events: null },
      'not checked 2. verify the signature\n         → Ask us.\n1 of the 1 that could be checked',
      undefined,
    ],
    ['what was not shown', { met: 1, findings: [met, other('not_seen')], events: null }, 'Ask us.', 1],
    [
      'an event log that it did not see, which is no obligation',
      { met: 1, findings: [met], events: { ...events, mark: 'not_seen' } },
      'not seen recommended\n         → Follow it.\n1 of 1\n',
      undefined,
    ],
    [
      'lost events',
      { met: 1, findings: [met], events: { ...events, mark: 'missed', problems: ['lost'] } },
      'lost',
      1,
    ],
  ])('says and ends as it should for %s', async (_, found, words, exitCode) => {
    grade = found;
    await type('grade', 'https://shop.example/hook', '--payment', 'id', '--ipn-token', 'ipn_x');
    expect(calls).toEqual([
      ['grade', { url: 'https://shop.example/hook', port: '4100', payment: 'id', ipnToken: 'ipn_x' }],
    ]);
    expect(out).toContain(words);
    expect(process.exitCode).toBe(exitCode);
    out = '';
    await type('grade', 'https://shop.example/hook', '--json');
    expect(JSON.parse(out)).toEqual(grade);
  });
});

describe('move-store', () => {
  const digests = { source_digest: 'a'.repeat(64), target_digest: 'b'.repeat(64) };
  const equal = { table: 'payments', source_rows: 1_000, target_rows: 1_000, ...digests, equal: true };
  const different = { table: 'webhooks', source_rows: 2, target_rows: 1, ...digests, equal: false };
  const words = ['move-store', '--from', 'sqlite', '--to', 'postgres'];

  it('compares both sides table by table, and ends with 0 when everything is over there', async () => {
    move = { tables: [equal], moved: true };
    await type(...words);
    expect(calls).toEqual([['move-store', { from: 'sqlite', to: 'postgres' }]]);
    expect(out.split('\n')).toEqual([
      'table     source_rows  target_rows  equal',
      'payments  1000         1000         true',
      'All data was copied, and both databases are equal.',
      '',
    ]);
    expect(process.exitCode).toBeUndefined();
  });

  it('ends with 1 when a table differs, with --json too, which has the whole digests', async () => {
    move = { tables: [equal, different], moved: false };
    await type(...words);
    expect(out).toMatch(/^webhooks +2 +1 +false$/m);
    expect(out).toMatch(/Nothing was copied: the target is empty\.\n$/);
    expect(process.exitCode).toBe(1);
    [out, process.exitCode] = ['', undefined];
    await type(...words, '--json');
    expect(JSON.parse(out)).toEqual(move);
    expect(process.exitCode).toBe(1);
  });
});

describe('a mistake', () => {
  it.each([
    ['account list --nonsense', /unknown option '--nonsense'/],
    ['--live', /unknown option '--live'/],
    ['nonsense', /unknown command 'nonsense'/],
    ['account nonsense', /unknown command 'nonsense'/],
    ['account create', /required option '--name <name>' not specified/],
    ['account create --name', /option '--name <name>' argument missing/],
    ['account update', /missing required argument 'account'/],
    ['key create --name x', /required option '--account <account>' not specified/],
    ['payment show', /missing required argument 'payment'/],
    ['payment show one two', /too many arguments/],
    ['payment rescue id', /required option '--token <address>' not specified/],
    ['move-store --from sqlite', /required option '--to <place>' not specified/],
    ['sandbox fault rates wert --down', /too many arguments/],
    ['trigger', /missing required argument 'event'/],
  ])('“%s” ends with an exit other than 0 and words on standard error', async (line, words) => {
    await expect(type(...line.split(' '))).rejects.toMatchObject({ exitCode: 1 });
    expect(err).toMatch(words);
    expect(err).toContain('Usage: card-checkout');
    expect(out).toBe('');
    expect(calls).toEqual([]);
  });

  it.each([[[]], [['account']], [['sandbox', 'fault']]])(
    '%j alone shows the help on standard error',
    async (words) => {
      await expect(type(...words)).rejects.toMatchObject({ exitCode: 1 });
      expect(err).toContain('Usage: card-checkout');
      expect(out).toBe('');
    },
  );

  it.each(['/nowhere/logo.png', '/dev/null/logo.png'])(
    'in the name of a logo names the option: %s',
    async (file) => {
      await expect(type('account', 'update', 'acc_1', '--logo', file)).rejects.toThrow(
        /^logo cannot be read: ENO[A-Z]+: .*logo\.png/,
      );
      expect(calls).toEqual([]);
    },
  );

  it('of an operation reaches the caller, and nothing is printed', async () => {
    failure = new Error('The key key_1 does not exist.');
    await expect(type('key', 'revoke', 'key_1', '--json')).rejects.toThrow('The key key_1 does not exist.');
    expect(out).toBe('');
  });
});
