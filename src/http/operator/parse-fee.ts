import { invalidField } from '../../domain/errors.ts';
import { parsePercentBasisPoints } from '../../domain/money.ts';

/** In basis points, out of a percentage that was typed. Throws `invalid_request`. */
export function parseFee(text: string): number {
  const basisPoints = parsePercentBasisPoints(text);
  if (basisPoints === null) throw invalidField('The fee', 'must be a percentage with at most two decimals.');
  return basisPoints;
}
