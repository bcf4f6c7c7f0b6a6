import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { migrations } from '../../src/app/migrations.ts';
import { projectFiles } from './project-files.ts';

const released = [migrations.SQLite, migrations.PostgreSQL].map(([first]) => first?.sql ?? '');

it('is not edited once it is released: a change is a migration', () => {
  // Whatever the order of its statements, which says which room they stand in.
  const statementsOf = (text: string) =>
    text
      .trim()
      .split(/\n(?=CREATE )/)
      .map((statement) => statement.trim());
  const digests = released.map((text) => hash('sha256', statementsOf(text).sort().join('\n')).slice(0, 16));
  expect(digests).toEqual(['083045b25070b7cd', 'b6c4f515a05e4bea']);
});

it('lets the steps of a feature write rows of its own tables only, and events', () => {
  const files = projectFiles(/^src\/features\/[\w-]+\/(stored-[\w-]+\.ts|schema\.sql)$/);
  const schemas = new Map(
    files.map(({ path, text }) => [path, [...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name)]),
  );
  const stored = files.filter(({ path }) => path.endsWith('.ts'));
  expect(stored.length).toBeGreaterThan(3);
  for (const { path, text } of stored) {
    const own = schemas.get(`${dirname(path)}/schema.sql`);
    const written = [...text.matchAll(/(?:UPDATE(?! SET)|INSERT INTO|DELETE FROM)\s+(\w+)/g)];
    expect(own, path).toEqual(expect.arrayContaining(written.map(([, table]) => table)));
    const described = [...text.matchAll(/\b(\w+Table)\.(?:insert|update)\w*\(/g)].map(
      ([, name = '']) => name,
    );
    const foreign = described.filter((name) => !text.includes(`const ${name} = `));
    expect(foreign.filter((name) => name !== 'unnumberedEventTable')).toEqual([]);
  }
});
