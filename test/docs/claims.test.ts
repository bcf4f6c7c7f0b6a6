import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parts } from '../campaign/parts.ts';
import { read, root, tableRows } from './markdown.ts';

/** That the linked files exist is checked for all documents in `links.test.ts`. */
const testLink = /\]\(\.\.\/(?:test\/|contracts\/|[^)]+\.test\.ts\))/;

/** The text of a section from its heading to the next one of the same or a higher level. */
function sectionOf(text: string, heading: string): string {
  const [marks = ''] = heading.split(' ');
  const [, after = ''] = text.split(`\n${heading}\n`);
  return after.split(new RegExp(`^#{1,${marks.length}} `, 'm'))[0] ?? '';
}

/** The claims of a list: its items, up to what remains a risk. */
function claimsOf(section: string): string[] {
  return section
    .split(/^#{3} /m)
    .flatMap((attacker) => (attacker.split(/^Remaining risks?:/m)[0] ?? '').split(/^(?=- )/m).slice(1));
}

describe('a test is named', () => {
  const model = read('docs/threat-model.md');

  it('for each defense of the threat model', () => {
    const claims = claimsOf(sectionOf(model, '## Attackers'));
    expect(claims.length).toBeGreaterThan(70);
    expect(claims.filter((claim) => !testLink.test(claim))).toEqual([]);
  });

  it.each([
    ['## Trusted parties', 8],
    ['## Promises', 12],
  ])('in each row below "%s"', (heading, least) => {
    const [, ...rows] = tableRows(sectionOf(model, heading));
    expect(rows.length).toBeGreaterThanOrEqual(least);
    expect(rows.filter((row) => !testLink.test(row.at(-1) ?? ''))).toEqual([]);
  });

  it('for each promise of the reliability page: parts of the stress suite, or files that exist', () => {
    const names = parts.map(({ name }) => name);
    const [, ...rows] = tableRows(sectionOf(read('docs/reliability.md'), '### Proofs by promise'));
    expect(rows.length).toBeGreaterThan(20);
    for (const [promise, proof = ''] of rows) {
      const named = [...proof.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) =>
        code.startsWith('npx vitest run ') ? code.split(' ').slice(3) : [code],
      );
      expect(named, promise).not.toEqual([]);
      const missing = named.filter((name) => !names.includes(name) && !existsSync(join(root, name)));
      expect(missing, promise).toEqual([]);
    }
  });
});
