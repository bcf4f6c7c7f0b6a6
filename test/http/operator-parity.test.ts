import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listCommands } from '../../scripts/docs-commands.ts';
import { sections } from '../../src/http/operator/operator-page.ts';
import { newPayment } from '../store/fixtures.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/operator-console.md'), 'utf8');
/** The table's cells, without the head: commands, pages, reasons. */
const rows = document
  .slice(document.indexOf('## Console and command line'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| command') && !line.startsWith('| ---'))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const namesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');

let console: TestConsole;
beforeAll(async () => {
  console = await createTestConsole();
});
afterAll(() => console.close());

it('every command has its page in the console, or a reason why it has none', () => {
  const commands = rows.flatMap(([, cell]) => namesIn(cell)).toSorted();
  expect(commands).toEqual(
    listCommands()
      .map(({ name }) => name)
      .toSorted(),
  );
  const without = rows.filter(([, , page, reason]) => page === '' && reason === '');
  expect(without).toEqual([]);
});

it('every page of the table is there, and every section of the console is in the table', async () => {
  const account = await console.giveAccount();
  const payment = newPayment(account.id);
  await console.dashboard.store.payments.createPayment(payment, null);
  const browser = await console.signIn(await console.giveOperator());
  const pages = rows.flatMap(([, , cell]) => namesIn(cell));
  for (const page of new Set(pages)) {
    const path = page
      .replace(':account', account.id)
      .replace(':provider', 'moonpay')
      .replace(':payment', payment.id);
    expect([page, (await browser.get(path)).statusCode]).toEqual([page, 200]);
  }
  const places = Object.values(sections).map(({ path }) => `/operator${path}`);
  expect(places.filter((place) => !pages.includes(place))).toEqual([]);
});
