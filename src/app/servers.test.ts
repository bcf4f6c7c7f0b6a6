import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { canOpenFile, connectionsWithin, readOpenFilesLimit } from './servers.ts';

it('connections leave room for what the service opens itself', () => {
  expect([connectionsWithin(Number.POSITIVE_INFINITY), connectionsWithin(20_000)]).toEqual([16_000, 16_000]);
  expect([connectionsWithin(15_000), connectionsWithin(1_024)]).toEqual([11_000, 256]);
});

it('the limit of this process can be read', () => {
  expect(readOpenFilesLimit()).toBeGreaterThan(100);
});

it('a process that used up its files cannot open another one, and can after one is closed', () => {
  expect(canOpenFile()).toBe(true);
  const program = `
    const { closeSync, openSync } = await import('node:fs');
    const { canOpenFile } = await import(${JSON.stringify(new URL('./servers.ts', import.meta.url).href)});
    const files = [];
    try { for (;;) files.push(openSync(process.execPath, 'r')); } catch {}
    const isFull = canOpenFile();
    closeSync(files.pop());
    console.log(isFull, canOpenFile());
  `;
  const words = [
    '-c',
    'ulimit -n 200 && exec "$0" "$@"',
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ];
  expect(execFileSync('sh', words, { encoding: 'utf8' })).toBe('false true\n');
});
