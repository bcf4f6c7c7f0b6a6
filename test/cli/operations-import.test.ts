import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { hashApiKey } from '../../src/accounts/api-key.ts';
import { createAccounts, readNewAccounts } from '../../src/cli/import-accounts.ts';
import type { OnProgress, Progress } from '../../src/platform/progress.ts';
import { ADDRESS, type TestOperations, useOperations } from '../support/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let { store, run, giveAccount } = {} as TestOperations;
useOperations((operations) => ({ store, run, giveAccount } = operations));

const NOBODYS = `0x${'dead'.padStart(40, '0')}`;
const MISFIT =
  'has another number of cells than the header, or a wrong quote: put a cell with a comma or a quote in quotes, and double each quote in it';
let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'merchants.csv');
});

function read(content: string | Buffer) {
  writeFileSync(file, content);
  return readNewAccounts(file);
}

async function importFile(
  content: string,
  { keys, onProgress = () => {} }: { readonly keys?: string; readonly onProgress?: OnProgress } = {},
) {
  return createAccounts(await read(content), keys, { runOperation: run }, onProgress);
}

const accounts = async () =>
  (await run<Record<string, unknown>[]>('account list')).toSorted((left, right) =>
    String(left['name']).localeCompare(String(right['name'])),
  );

/** Faults that the file is refused for, by line. */
async function faultsOf(content: string | Buffer): Promise<readonly string[]> {
  const { message } = await read(content).then(
    () => new Error('the file is fine'),
    (error: Error) => error,
  );
  const [first, ...faults] = message.split('\n');
  expect(first).toBe(`Nothing was created. Correct in ${file}:`);
  return faults;
}

describe('an import', () => {
  it('creates the accounts of a CSV file with the defaults and the audit entries of account create', async () => {
    const progress: Progress[] = [];
    const csv = `\ufeffname,Email ,fee_percent,wallet\r\n"Tea, ""green""",anna@shop.example,1.5,${ADDRESS}\r\n\r\n Books ,,,\r\n`;
    const result = await importFile(csv.replace('Email ', 'email '), {
      onProgress: (each) => progress.push(each),
    });
    const [books, tea] = await accounts();
    expect(tea).toMatchObject({
      name: 'Tea, "green"',
      email: 'anna@shop.example',
      fee_percent: 1.5,
      wallet: ADDRESS,
    });
    expect(books).toMatchObject({ name: 'Books', email: null, fee_percent: 2.5, wallet: null });
    expect(result).toEqual({
      created: 2,
      existing: 0,
      keys: 0,
      accounts: [
        { line: 2, account_id: tea?.['account_id'] },
        { line: 4, account_id: books?.['account_id'] },
      ],
    });
    expect(progress).toEqual([1, 2].map((done) => ({ unit: 'accounts', done, total: 2 })));
    expect(await store.audit.listEntries(String(tea?.['account_id']), null, 10)).toMatchObject([
      { action: 'account.created', actor: 'operator', target: 'Tea, "green"' },
    ]);
  });

  it('reads JSON Lines with numbers, null and a confirmed wallet', async () => {
    await importFile(
      `{"name":"Tea","fee_percent":0,"email":null}\n\n{"name":"Ash","wallet":"${NOBODYS}","confirm-wallet":true}\r\n`,
    );
    expect(await accounts()).toMatchObject([
      { name: 'Ash', wallet: expect.stringMatching(/dead$/i) },
      { name: 'Tea', fee_percent: 0, email: null },
    ]);
  });

  it('reads every way of quoting and of ending a line', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ',', '"', ' ', ';', "'", '=', 'ü', '🦊'),
      minLength: 1,
    });
    const row = fc.record({ text, isQuoted: fc.boolean(), end: fc.constantFrom('\n', '\r\n', '\r') });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const names = rows.map((each, at) => `${at}${each.text}x`);
        const lines = rows.map(({ isQuoted, end }, at) => {
          const name = names[at] ?? '';
          const cell = isQuoted || /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
          return `${cell},a${at}@b.example${end}`;
        });
        const found = await read(`name,email${rows[0]?.end}${lines.join('')}`);
        expect(found.map(({ account }) => account.name)).toEqual(names);
        expect(found.map(({ line }) => line)).toEqual(names.map((_, at) => at + 2));
      }),
    );
  });

  it('skips merchants that exist, whoever created them, and changes nothing in them', async () => {
    const id = await giveAccount('Tea');
    const other = await run<{ account_id: string }>('account create', {
      name: 'Tea',
      email: 'Anna@b.example',
    });
    const csv = 'name,email,fee-percent\nTea,,1\nTea,anna@B.example,1\nTea,other@b.example,1\n';
    expect(await importFile(csv)).toMatchObject({ created: 1, existing: 2 });
    const again = await importFile(csv);
    expect(again).toMatchObject({ created: 0, existing: 3 });
    expect(again.accounts.slice(0, 2)).toEqual([
      { line: 2, account_id: id },
      { line: 3, account_id: other.account_id },
    ]);
    expect((await accounts()).map((account) => account['fee_percent']).toSorted()).toEqual([1, 2.5, 2.5]);
  });

  it('that ends in the middle goes on when it runs again', async () => {
    const csv = `name\n${Array.from({ length: 5 }, (_, index) => `Shop ${index}`).join('\n')}`;
    const onProgress: OnProgress = ({ done }) => {
      if (done === 2) throw new Error('stopped');
    };
    const keys = join(folder, 'keys.csv');
    await expect(importFile(csv, { keys, onProgress })).rejects.toThrow('stopped');
    expect(await accounts()).toHaveLength(2);
    const more = join(folder, 'more.csv');
    expect(await importFile(csv, { keys: more })).toMatchObject({ created: 3, existing: 2, keys: 3 });
    expect(await accounts()).toHaveLength(5);
    expect([keys, more].map((name) => readFileSync(name, 'utf8').split('\r\n').length - 2)).toEqual([2, 3]);
  });

  it('writes keys to a new file of its owner, also for existing merchants who never had one', async () => {
    const [plain, keyed] = [await giveAccount('Plain'), await giveAccount('Keyed')];
    await run('key create', { account: keyed });
    const keys = join(folder, 'keys.csv');
    const result = await importFile('name,email\nPlain,\nKeyed,\n=New,a@b.example\n', { keys });
    expect(result).toMatchObject({ created: 1, existing: 2, keys: 2 });
    expect(JSON.stringify(result)).not.toContain('service_live_');
    expect(statSync(keys).mode & 0o777).toBe(0o600);
    const [header, ...lines] = readFileSync(keys, 'utf8').trimEnd().split('\r\n');
    expect(header).toBe('account_id,name,email,key_id,api_key');
    const created = result.accounts[2]?.account_id;
    expect(lines).toEqual([
      expect.stringMatching(`^${plain},"Plain",,key_\\w+,service_live_[\\w-]+$`),
      expect.stringMatching(`^${created},"'=New","a@b.example",key_\\w+,service_live_[\\w-]+$`),
    ]);
    const apiKey = lines[1]?.split(',').at(-1) ?? '';
    expect(await store.accounts.findActiveKey(hashApiKey(apiKey))).toMatchObject({
      account: { id: created },
    });
    expect(await store.audit.listEntries(String(created), null, 10)).toMatchObject([
      { action: 'key.created', actor: 'operator' },
      { action: 'account.created' },
    ]);
  });

  it('does not touch a file of keys that exists, and then creates nothing', async () => {
    const keys = join(folder, 'keys.csv');
    writeFileSync(keys, 'kept');
    await expect(importFile('name\nTea\n', { keys })).rejects.toThrow(
      /keys must be a new file: .*keys\.csv exists/,
    );
    expect(readFileSync(keys, 'utf8')).toBe('kept');
    expect(await accounts()).toEqual([]);
  });
});

describe('a file with faults', () => {
  it('names each with its line and field and the way out, and the fields of a line together', async () => {
    const csv = [
      'name,email,fee-percent,wallet',
      'Tea,a@b.example,,',
      ',anna,11,0x12',
      'Tea,A@b.example,,',
      `Ash,,,${NOBODYS}`,
      'Green, tea,,,',
      '',
      '"two\nlines",,,',
    ].join('\n');
    expect(await faultsOf(csv)).toEqual([
      'line 3: name is missing; email must be an email address; fee-percent must be from 0 to 10; wallet must be a non-zero address (0x…) with a valid checksum',
      'line 4: name and email are those of line 2: remove one, or change its email',
      expect.stringMatching(
        /^line 5: wallet is an address without an owner.*\. If you mean it, set confirm-wallet to true$/,
      ),
      `line 6: ${MISFIT}`,
      expect.stringMatching(/^line 9: name must be one line of at most 100 characters/),
    ]);
  });

  it('names columns that do not exist or are there twice, beside the faults of the rows', async () => {
    expect(await faultsOf('name,colour,name\nTea,red,Tea\n ,red, \n')).toEqual([
      expect.stringMatching(
        /^line 1: "colour" must be one of the columns name, email, fee-percent, wallet, confirm-wallet/,
      ),
      expect.stringMatching(/^line 1: "name" must be one of the columns/),
      'line 3: name must not be empty',
    ]);
  });

  it.each([
    ['name\nTea\n"Green\nBooks\n', `line 3: ${MISFIT}`],
    ['name\nTea\nGreen "tea"\n', `line 3: ${MISFIT}`],
    ['"name', `line 1: ${MISFIT}`],
    ['{"name":"Tea"}\n{"name":', 'line 2: must be a JSON object of plain values'],
    ['{"name":"Tea"}\n["Tea"]', 'line 2: must be a JSON object of plain values'],
    ['{"name":"Tea"}\nnull', 'line 2: must be a JSON object of plain values'],
    [
      '{"\\u001b[2J":1}',
      `line 1: "\\u001b[2J" must be one of the columns name, email, fee-percent, wallet, confirm-wallet, each of which is there once`,
    ],
    ['{"name":["Tea"]}', 'line 1: must be a JSON object of plain values'],
    [
      '{"name":"Tea","fee":1}',
      'line 1: "fee" must be one of the columns name, email, fee-percent, wallet, confirm-wallet, each of which is there once',
    ],
  ])('%j', async (content, fault) => {
    expect(await faultsOf(content)).toEqual([fault]);
  });

  it('names fifty lines, and counts the others', async () => {
    const faults = await faultsOf(`name,email\n${'Tea,anna\n'.repeat(60)}`);
    expect(faults).toHaveLength(51);
    expect(faults.slice(-2)).toEqual(['line 51: email must be an email address', 'and 10 more lines']);
  });

  it('is refused where it has too many rows or bytes, or is no UTF-8', async () => {
    const rows = (count: number) =>
      `name\n${Array.from({ length: count }, (_, index) => `S${index}\n`).join('')}`;
    expect(await read(rows(5_000))).toHaveLength(5_000);
    await expect(read(rows(5_001))).rejects.toThrow('file has more than 5000 rows: split it');
    await expect(read(`name\n${' '.repeat(4 * 2 ** 20)}`)).rejects.toThrow(
      'file has more than 4 MiB: split it',
    );
    await expect(read(Buffer.from('name\nB\xfccher\n', 'latin1'))).rejects.toThrow(/utf-8/);
    await expect(readNewAccounts(join(folder, 'none.csv'))).rejects.toThrow(/ENOENT.*none\.csv/);
  });
});
