/** Generates the part of docs/reliability.md on the findings of `verify`. */
import { discrepancyKinds } from '../src/cli/verify/discrepancies.ts';
import { code, table } from './markdown.ts';

export function discrepancyTable(): string {
  return table(
    ['`what`', 'meaning'],
    Object.entries(discrepancyKinds).map(([kind, meaning]) => [code(kind), meaning]),
  );
}
