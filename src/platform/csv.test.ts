import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it('writes text so that no spreadsheet takes it for a formula or for several cells', () => {
  for (const [text, written] of [
    ['Order 1', '"Order 1"'],
    ['say "hi", twice\nor more', '"say ""hi"", twice\nor more"'],
    ['=HYPERLINK("https://evil.example","x")', '"\'=HYPERLINK(""https://evil.example"",""x"")"'],
    ['+1', '"\'+1"'],
    ['-2+3', '"\'-2+3"'],
    ['@SUM(A1)', '"\'@SUM(A1)"'],
    ['\t=1', '"\'\t=1"'],
    ['  =1', '"\'  =1"'],
    ['\n=1', '"\n\'=1"'],
    // A spreadsheet that separates cells by semicolons ignores quotes within a line.
    ['a;=1', '"a;\'=1"'],
    ['a; @SUM(A1)', '"a;\' @SUM(A1)"'],
    ['a\r\n+1', '"a\r\n\'+1"'],
    ['a;b\nc', '"a;b\nc"'],
    ['＝1', '"\'＝1"'],
    ['1-2', '"\'1-2"'],
    ['12\n-3', '"\'12\n\'-3"'],
    ['', '""'],
  ] as const) {
    expect(csvLine([{ text }])).toBe(`${written}\r\n`);
  }
  expect(csvLine(['12.30', { text: null }, null, { text: 'a' }])).toBe('12.30,,,"a"\r\n');
});

it('marks text that a spreadsheet would show as another number or a date', () => {
  const changed = ['007', '1e5', '12.50', '3-4', '11/30', '12:30', '1234567890123456', '5 %'];
  const kept = ['10023', '12.5', 'A-7', 'e', '', 'Tea 007'];
  const write = (texts: string[]) => csvLine(texts.map((text) => ({ text })));
  expect(write(changed)).toBe(`${changed.map((text) => `"'${text}"`).join(',')}\r\n`);
  expect(write(kept)).not.toContain("'");
});
