/** What a test card brings about. */
export interface TestCard {
  /** As it is shown; compared without its spaces. */
  readonly number: string;
  readonly outcome: 'good' | 'declined' | 'slow' | 'short';
  readonly explanation: string;
}

/** The only cards the simulated on-ramps know. */
export const testCards: readonly TestCard[] = [
  { number: '4242 4242 4242 4242', outcome: 'good', explanation: 'is accepted, delivers at once' },
  { number: '4000 0000 0000 0002', outcome: 'declined', explanation: 'is declined' },
  { number: '4000 0000 0000 3220', outcome: 'slow', explanation: 'is accepted, delivers after a while' },
  { number: '4000 0000 0000 9995', outcome: 'short', explanation: 'is accepted, delivers only half' },
];

function digitsOf(number: string): string {
  return number.replace(/[\s-]/g, '');
}

/** The test card of a number as a person types it, or null. */
export function findTestCard(number: string): TestCard | null {
  const digits = digitsOf(number);
  return testCards.find((card) => digitsOf(card.number) === digits) ?? null;
}
