import type { Agent } from 'undici';
import { type Currency, parseUsdRate, type UsdRate } from '../domain/money.ts';
import { getJson } from './get-json.ts';

/**
 * The USD value of one unit of a currency by Coinbase: `GET /v2/exchange-rates?currency=EUR`, no key, continuous
 * → `{data: {currency: "EUR", rates: {USD: "1.0874", …}}}`. Throws when the answer is not exactly about this currency.
 */
export async function fetchCoinbaseRate(
  agent: Agent,
  baseUrl: string,
  currency: Currency,
  timeoutMs: number,
): Promise<UsdRate> {
  const answer = (await getJson(agent, `${baseUrl}/v2/exchange-rates?currency=${currency}`, timeoutMs)) as {
    data?: { currency?: unknown; rates?: { USD?: unknown } };
  } | null;
  if (answer?.data?.currency !== currency)
    throw new Error(`Coinbase answered for another currency than ${currency}`);
  const text = answer.data.rates?.USD;
  const rate = typeof text === 'string' ? parseUsdRate(text) : null;
  if (rate === null) throw new Error(`Coinbase gave no rate for ${currency}`);
  return rate;
}
