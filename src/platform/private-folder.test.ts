import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createPrivateFolder } from './private-folder.ts';

let root: string;
beforeEach(() => {
  root = temporaryFolder();
});

it('creates the folder and those above it for this user alone, once', () => {
  const folder = join(root, 'a', 'b');
  for (let times = 0; times < 2; times++) createPrivateFolder(folder);
  for (const created of [folder, join(root, 'a')]) expect(statSync(created).mode & 0o777).toBe(0o700);
});

it('says which folder cannot be created below a file', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => createPrivateFolder(join(root, 'file', 'a'))).toThrow(join(root, 'file', 'a'));
});

it('returns with an error where the system takes no folders', () => {
  expect(() => createPrivateFolder('/proc/nope/data')).toThrow("mkdir '/proc");
});
