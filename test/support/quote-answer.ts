import type { Quote, QuoteRequest } from '../../src/providers/provider.ts';

/** What a provider answers; it charges the amount unless it says otherwise. */
export type QuoteAnswer = Omit<Quote, 'chargedCents'> & Partial<Quote>;

export async function quoteOf({ amountCents }: QuoteRequest, answer: Promise<QuoteAnswer>): Promise<Quote> {
  return { chargedCents: amountCents, ...(await answer) };
}
