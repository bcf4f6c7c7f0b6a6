/** Generates the part of docs/reliability.md on the findings of `verify`. */
import { discrepancyKinds } from '../src/cli/verify/discrepancies.ts';
import { refundDiscrepancies } from '../src/features/refunds/refund.ts';
import { code, table } from './markdown.ts';

export function discrepancyTable(): string {
  return table(
    ['`what`', 'meaning'],
    Object.entries({ ...discrepancyKinds, ...refundDiscrepancies }).map(([kind, meaning]) => [
      code(kind),
      meaning,
    ]),
  );
}
