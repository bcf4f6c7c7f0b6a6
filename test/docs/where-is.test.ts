import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
const section = /## Where is …\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
const rows = [...section.matchAll(/^\| (.+) \| `(src\/[^`]+)` \| `([^`]+)` \|$/gm)].map(
  ([, rule = '', file = '', name = '']) => ({ rule, file, name }),
);

describe('the table "Where is …" of the architecture', () => {
  it('names at least twenty rules, each once', () => {
    expect(rows.length).toBeGreaterThanOrEqual(20);
    expect(new Set(rows.map(({ rule }) => rule)).size).toBe(rows.length);
  });

  it.each(rows)('finds $rule in $file', ({ file, name }) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(name);
  });

  it('has no row in another form', () => {
    const lines = section
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (rule|---) /.test(line));
    expect(lines.length).toBe(rows.length);
  });
});
