import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { queryPostgres } from '../../support/postgres.ts';
import type { ServiceEnvironment } from '../../support/service-process.ts';
import { type CanaryKind, drawSecret } from './canaries.ts';
import type { SecretPromise } from './promises.ts';
import { exchange } from './raw-exchange.ts';
import type { Merchant, Stage } from './stage.ts';
import { hashOf } from './walk.ts';

const keysAndTokens: ReadonlySet<CanaryKind> = new Set(['key', 'token']);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Looks for all canaries of these kinds in a text; each canary is a case. */
function judge(
  { search, tally }: Stage,
  promise: SecretPromise,
  where: string,
  text: string,
  kinds?: ReadonlySet<CanaryKind>,
): void {
  const found = new Map(search.find(text, kinds).map(({ name, around }) => [name, around]));
  for (const { name, kind } of search.canaries) {
    if (kinds?.has(kind) === false) continue;
    tally.expect(promise, !found.has(name), () => `${name} in ${where}: ${found.get(name)}`);
  }
}

/** Everything that the service has written, shown, stored and been started with. */
export async function searchPlaces(
  stage: Stage,
  merchant: Merchant,
  databaseUrl: string | null,
): Promise<void> {
  const output = stage.process.output();
  if (!output.includes('request failed'))
    throw new Error('the log has nothing of what was asked: it was not searched');
  judge(stage, 'logs', 'the log', output);
  judge(
    stage,
    'metrics',
    'the metrics',
    (await exchange(stage.adminUrl, { method: 'GET', path: '/metrics' })).body,
  );
  judge(stage, 'arguments', 'the arguments of a process', argumentsOfAll(stage.process.pid));
  const stored = databaseUrl === null ? readFiles(stage.dataDir) : await readTables(databaseUrl);
  // What must be there shows that the right thing is searched.
  if (!stored.includes(hashOf(merchant.apiKey)))
    throw new Error('the database does not know a key: it was not searched');
  judge(stage, 'atRest', 'the database', stored, keysAndTokens);
  if (databaseUrl !== null)
    judge(stage, 'atRest', 'the data folder', readFiles(stage.dataDir), keysAndTokens);
}

/** The command lines of all processes that we may look at. */
function argumentsOfAll(servicePid: number): string {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return { pid, words: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') };
      } catch {
        return { pid, words: '' }; // It ended meanwhile.
      }
    });
  const own = lines.find(({ pid }) => pid === String(servicePid));
  if (own === undefined || !own.words.includes('card-checkout.js'))
    throw new Error('the service is not among the processes');
  return lines.map(({ words }) => words).join('\n');
}

/** All files below a folder, byte for byte. */
function readFiles(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'latin1'))
    .join('\n');
}

/** All rows of all tables as text. */
async function readTables(url: string): Promise<string> {
  const tables = await queryPostgres(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const texts = await Promise.all(
    tables.map(({ tablename }) => queryPostgres(url, `SELECT t::text AS row FROM "${tablename}" AS t`)),
  );
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n');
}

/** Commands that fail, or look for what is wrong, with secrets in every variable: all they print is searched. */
export async function searchFailedStarts(stage: Stage, { long }: { readonly long: boolean }): Promise<void> {
  const secret = () => {
    const text = drawSecret(stage.random);
    stage.search.add({ name: 'a variable of a failed start', kind: 'key', secret: text });
    return text;
  };
  const endpoint = () => `http://${secret()}:${secret()}@127.0.0.1:9/${secret()}?key=${secret()}`;
  const wrong = {
    ...stage.environment,
    DATA_DIR: `${stage.dataDir}-not-started`,
    SECRET_KEY: `${secret()},`,
    SECRET_KEY_PREVIOUS: secret().slice(0, 31),
    DATABASE_URL: `postgres://user:${secret()}@:port`,
    POLYGON_RPC_URL: `ftp://${secret()}`,
    RELAYER_PRIVATE_KEY: `0x${secret()}`,
    MOONPAY_API_KEY: secret(),
    MOONPAY_BASE_URL: secret(),
    BASE_URL: `https://user:${secret()}@pay.example`,
  };
  const unreachable = {
    ...stage.environment,
    DATA_DIR: `${stage.dataDir}-not-started`,
    DATABASE_URL: `postgres://user:${secret()}@127.0.0.1:9/database`,
    POLYGON_RPC_URL: `${endpoint()},${endpoint()}`,
  };
  const withoutNodes = { ...unreachable, DATABASE_URL: '' };
  const commands: [string, ServiceEnvironment, string[]][] = [
    ['a start with a wrong configuration', wrong, ['start', '--live']],
  ];
  // Each takes a second of a processor.
  if (long) {
    commands.push(
      ['doctor with a wrong configuration', wrong, ['doctor']],
      ['doctor without database and nodes', unreachable, ['doctor']],
      ['a start without its database', unreachable, ['start', '--live']],
      ['a start without its nodes', withoutNodes, ['start', '--live']],
      ['a deployment without nodes', unreachable, ['contract', 'deploy']],
      ['verify without nodes', withoutNodes, ['verify']],
    );
  }
  for (const [what, environment, words] of commands) {
    const printed = await printedBy(environment, words);
    if (printed.trim() === '') throw new Error(`${what} printed nothing`);
    judge(stage, 'failedStarts', what, printed);
  }
}

/** What a command prints in all; it is ended when it takes too long. */
function printedBy(environment: ServiceEnvironment, words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['bin/card-checkout.js', ...words],
      { cwd: root, env: { PATH: process.env['PATH'], ...environment }, timeout: 120_000 },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}
