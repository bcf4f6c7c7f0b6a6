import { afterEach, expect, it, vi } from 'vitest';
import { printResult } from './present.ts';

afterEach(() => vi.restoreAllMocks());

/** Prints a result and returns the text on standard output. */
function printed(result: unknown, options: { json?: boolean } = {}): string {
  let text = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  printResult(result, options);
  write.mockRestore();
  return text;
}

it('prints JSON as one line that reads back as the same', () => {
  const result = { name: 'Bücher\n& Söhne', list: [1, null, { deep: true }] };
  const text = printed(result, { json: true });
  expect(text.endsWith('\n') && text.indexOf('\n') === text.length - 1).toBe(true);
  expect(JSON.parse(text)).toEqual(result);
});

it('prints a record with its values below each other', () => {
  expect(
    printed({
      id: 'acc_1',
      fee_percent: 2.5,
      wallet: null,
      suspended: false,
      features: ['a', 'b'],
      facts: ['An ip.', 'A code.'],
      none: [],
    }),
  ).toBe(
    [
      'id           acc_1',
      'fee_percent  2.5',
      'wallet       –',
      'suspended    false',
      'features     a, b',
      'facts        An ip. A code.',
      'none         –',
    ]
      .join('\n')
      .concat('\n'),
  );
});

it('prints records within records indented, and records of a list apart', () => {
  expect(
    printed({ id: 'x', deposits: [{ amount: '1' }, { amount: '2' }], result: { outcome: 'failed' } }),
  ).toBe('id        x\ndeposits\n  amount  1\n  amount  2\nresult\n  outcome  failed\n');
  expect(printed([{ id: 1 }, { id: 2 }])).toBe('id  1\n\nid  2\n');
});

it('prints a list with columns as a table of those, and all fields as JSON', () => {
  const list = [
    { provider: 'moonpay', active: true, last_failure: null, more: 1 },
    { provider: 'wert', active: false, last_failure: 'timed\nout', more: 2 },
  ];
  const columns = ['provider', 'active', 'last_failure'];
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  printResult(list, { columns });
  expect(text.split('\n')).toEqual([
    'provider  active  last_failure',
    'moonpay   true    –',
    'wert      false   timed\\u000aout',
    '',
  ]);
  text = '';
  printResult(list, { columns, json: true });
  expect(JSON.parse(text)).toEqual(list);
});

it('prints lines as lines, and says so when a list is empty', () => {
  expect(printed(['ok    store', 'WRONG chain'])).toBe('ok    store\nWRONG chain\n');
  expect([printed([]), printed('done')]).toEqual(['(none)\n', 'done\n']);
});

it('lets no text from outside command the terminal or fake another line', () => {
  const hostile = '\u001b[2J\u009b31m\r\nstatus  paid\u2028\u202e\u0000';
  for (const result of [
    { excerpt: hostile },
    { list: [hostile] },
    [hostile],
    hostile,
    { deep: [{ excerpt: hostile }] },
  ]) {
    const text = printed(result);
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\u2028\u202e]|^status/mu);
    expect(text).toContain('\\u001b[2J');
  }
  expect(printed({ name: 'Bücher “x” 🦊👩‍💻' })).toBe('name  Bücher “x” 🦊👩‍💻\n');
});
