import { describe, expect, it } from 'vitest';
import { countSqliteCommits, judgeTrace } from './judge-trace.ts';
import { readSystemCalls } from './system-calls.ts';

const ID = '01935a3c-0000-7000-8000-000000000001';
const hexOf = (text: string) =>
  [...Buffer.from(text, 'latin1')].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

const row = `11 pwrite64(22</data/store.sqlite-wal>, "${hexOf(`\0\u00ff${ID}\u0007`)}", 4096, 56) = 4096`;
const sync = '11 fdatasync(22</data/store.sqlite-wal>) = 0';
const answer = `11 write(30<socket:[77]>, "HTTP/1.1 200 OK\\r\\n\\r\\n{\\"payment_id\\":\\"${ID}\\"}", 90) = 90`;

const isLog = (path: string) => path.endsWith('-wal');
const judge = (...lines: readonly string[]) => judgeTrace(readSystemCalls(lines.join('\n')), [ID], isLog);

describe('a trace of system calls', () => {
  it('shows an answer that waited for the disk', () => {
    const found = { answered: 1, answeredTooEarly: [], notSeen: [], syncs: 1 };
    expect(judge(row, sync, answer)).toEqual(found);
  });

  it.each([
    ['without a sync', [row, answer]],
    ['before the sync', [row, answer, sync]],
    ['after a sync that came before the row', [sync, row, answer]],
    ['after a sync of another file', [row, sync.replace('-wal', ''), answer]],
    ['after a sync that failed', [row, sync.replace('= 0', '= -1 EIO (Input/output error)'), answer]],
    [
      'while another thread’s sync has begun and not ended',
      [
        row,
        '12 fdatasync(22</data/store.sqlite-wal> <unfinished ...>',
        answer,
        '12 <... fdatasync resumed>) = 0',
      ],
    ],
    [
      'after a sync that began before the row was written to the end',
      [
        row.replace(/ = 4096$/, ' <unfinished ...>'),
        sync.replace('11', '12'),
        '11 <... pwrite64 resumed>) = 4096',
        answer,
      ],
    ],
  ])('shows an answer %s', (_, lines) => {
    expect(judge(...lines).answeredTooEarly).toEqual([ID]);
  });

  it('shows a sync of another thread that was interrupted by other lines', () => {
    const began = '12 fdatasync(22</data/store.sqlite-wal> <unfinished ...>';
    expect(
      judge(row, began, '11 write(1<pipe:[3]>, "x", 1) = 1', '12 <... fdatasync resumed>) = 0', answer),
    ).toEqual({ answered: 1, answeredTooEarly: [], notSeen: [], syncs: 1 });
  });

  it('says which create it does not show', () => {
    expect(judge(row, sync).notSeen).toEqual([ID]);
    expect(judge(sync, answer).notSeen).toEqual([ID]);
  });

  it('shows the commits of SQLite: frames after which the size of the database stands', () => {
    const frame = (size: string) =>
      `11 pwrite64(22</data/store.sqlite-wal>, "${hexOf(`\0\0\0\x02${size}${'x'.repeat(16)}`)}", 24, 32) = 24`;
    const calls = readSystemCalls(
      [frame('\0\0\0\0'), frame('\0\0\0\x05'), frame('\0\x01\0\0'), row].join('\n'),
    );
    expect(countSqliteCommits(calls, isLog)).toBe(2);
  });
});
