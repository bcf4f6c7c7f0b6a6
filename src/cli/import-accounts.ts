import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { NewAccount } from '../accounts/manage-accounts.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { csvLine } from '../platform/csv.ts';
import type { OnProgress } from '../platform/progress.ts';
import { parseJson } from '../platform/read-json.ts';
import { newAccount } from './arguments.ts';
import type { OperationRunner } from './command.ts';
import type { OperationArguments } from './operations-context.ts';
import { visible } from './present.ts';

const MAXIMUM_MEBIBYTES = 4;
const MAXIMUM_ROWS = 5_000;
/** Maximum number of faulty lines that an error lists. */
const MAXIMUM_NAMED = 50;
const MAXIMUM_FAULT_CHARACTERS = 600;

const columns = ['name', 'email', 'fee-percent', 'wallet', 'confirm-wallet'] as const;
const columnOf = (name: string) => columns.find((column) => column === name.trim().replaceAll('_', '-'));
const NO_COLUMN = `must be one of the columns ${columns.join(', ')}, each of which is there once`;

/** Row of the file, with its last line and its values by column. A string describes a fault of the whole row. */
interface FileRow {
  readonly line: number;
  readonly values: Readonly<Record<string, unknown>> | string;
}

/** Checked row, with the arguments of `account create` and the account that they describe. */
interface NewRow {
  readonly line: number;
  readonly args: OperationArguments;
  readonly account: NewAccount;
}

/** Returns a merchant's identity. Accounts with the same name and email address count as one merchant. */
const identityOf = ({ name, email }: Pick<NewAccount, 'name' | 'email'>) =>
  JSON.stringify([name, email?.toLowerCase()]);

/** Reads a file of new accounts. Throws one `invalid_request` with the line and field of each fault. */
export async function readNewAccounts(file: string): Promise<readonly NewRow[]> {
  const bytes = readFileSync(file);
  if (bytes.length > MAXIMUM_MEBIBYTES * 2 ** 20)
    throw invalidField('file', `has more than ${MAXIMUM_MEBIBYTES} MiB: split it`);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const found = /^\s*\{/.test(text) ? rowsOfJson(text) : rowsOfCsv(text);
  if (found.length > MAXIMUM_ROWS) throw invalidField('file', `has more than ${MAXIMUM_ROWS} rows: split it`);
  const rows: NewRow[] = [];
  const faults: string[] = [];
  const lines = new Map<string, number>();
  for (const { line, values } of found) {
    try {
      const row = { line, ...(await readRow(values)) };
      const earlier = lines.get(identityOf(row.account));
      if (earlier !== undefined)
        throw invalidField('name', `and email are those of line ${earlier}: remove one, or change its email`);
      lines.set(identityOf(row.account), line);
      rows.push(row);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      faults.push(visible(`line ${line}: ${error.message}`).slice(0, MAXIMUM_FAULT_CHARACTERS));
    }
  }
  if (faults.length === 0) return rows;
  const more = faults.length > MAXIMUM_NAMED ? [`and ${faults.length - MAXIMUM_NAMED} more lines`] : [];
  const named = [...faults.slice(0, MAXIMUM_NAMED), ...more].join('\n');
  throw new ServiceError('invalid_request', `Nothing was created. Correct in ${file}:\n${named}`);
}

function rowsOfJson(text: string): readonly FileRow[] {
  return text.split('\n').flatMap((json, index) => {
    if (json.trim() === '') return [];
    const value = parseJson(json) ?? [];
    const isFlat = !Array.isArray(value) && Object.values(value).every((each) => Object(each) !== each);
    return [{ line: index + 1, values: isFlat ? { ...value } : 'must be a JSON object of plain values' }];
  });
}

function rowsOfCsv(text: string): readonly FileRow[] {
  const rows: FileRow[] = [];
  parse(text, {
    columns: (header: readonly string[]) =>
      header.map(columnOf).map((name, at, names) => {
        if (name !== undefined && names.indexOf(name) === at) return name;
        rows.push({ line: 1, values: `"${header[at]}" ${NO_COLUMN}` });
        return null;
      }),
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record: (values: Record<string, string>, { lines: line }) => void rows.push({ line, values }),
    on_skip(error) {
      // The parser reports a missing quote only at the end of the file.
      const isUnclosed = error?.code === 'CSV_QUOTE_NOT_CLOSED';
      const line = isUnclosed ? (rows.at(-1)?.line ?? 0) + 1 : Number(error?.['lines']);
      // The parser may find several faults in one line.
      if (line !== rows.at(-1)?.line) rows.push({ line, values: MISFIT });
    },
  });
  return rows;
}

const MISFIT =
  'has another number of cells than the header, or a wrong quote: put a cell with a comma or a quote in quotes, and ' +
  'double each quote in it';

async function readRow(values: FileRow['values']): Promise<Omit<NewRow, 'line'>> {
  if (typeof values === 'string') throw new ServiceError('invalid_request', values);
  const args: Record<string, string | boolean> = {};
  for (const [key, value] of Object.entries(values)) {
    const name = columnOf(key);
    if (name === undefined) throw invalidField(`"${key}"`, NO_COLUMN);
    if (value === '' || value === null) continue;
    args[name] = name === 'confirm-wallet' ? /^true$/i.test(String(value)) : String(value);
  }
  return { args, account: await newAccount(args, 'set confirm-wallet to true') };
}

/**
 * Creates the accounts that do not exist yet and, if `keys` names a file, a key for each that never had one. Each key
 * is written to the file before the next account is created, so that a later run can continue.
 */
export async function createAccounts(
  rows: readonly NewRow[],
  keys: string | undefined,
  services: OperationRunner,
  onProgress: OnProgress,
) {
  const run = <Result>(name: string, args: OperationArguments) =>
    services.runOperation(name, args) as Promise<Result>;
  type Listed = Pick<NewAccount, 'name' | 'email'> & { readonly account_id: string };
  const listed = await run<readonly Listed[]>('account list', {});
  const known = new Map(listed.map((account) => [identityOf(account), account.account_id]));
  if (keys !== undefined && existsSync(keys))
    throw invalidField('keys', `must be a new file: ${keys} exists, and may be the only copy of other keys`);
  if (keys !== undefined) writeFileSync(keys, csvLine(keyColumns), { flag: 'wx', mode: 0o600 });
  const result = { created: 0, existing: 0, keys: 0, accounts: [] as { line: number; account_id: string }[] };
  for (const { line, args, account } of rows) {
    const existing = known.get(identityOf(account));
    const id = existing ?? (await run<Listed>('account create', args)).account_id;
    const isNew = existing === undefined;
    if (keys !== undefined && (isNew || (await run<unknown[]>('key list', { account: id })).length === 0)) {
      const key = await run<{ key_id: string; api_key: string }>('key create', { account: id });
      const cells = [id, { text: account.name }, { text: account.email }, key.key_id, key.api_key];
      appendFileSync(keys, csvLine(cells), { flush: true });
      result.keys++;
    }
    result[isNew ? 'created' : 'existing']++;
    result.accounts.push({ line, account_id: id });
    onProgress({ unit: 'accounts', done: result.accounts.length, total: rows.length });
  }
  return result;
}

const keyColumns = ['account_id', 'name', 'email', 'key_id', 'api_key'];
