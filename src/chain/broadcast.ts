import { ChainUnavailableError, TransactionRefusedError } from '../domain/ports/chain.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';
import { JsonRpcAnswerError } from './json-rpc.ts';

/**
 * How nodes say that they have the transaction already, or that its nonce has been used: by another attempt of ours, or
 * by another transaction. Which of the two is judged by the receipts, once the nonce is final.
 */
const harmless =
  /already ?known|already imported|already.exists|\bknown transaction|nonce (?:is )?too low|old ?nonce/i;

/** Of all refusals together. */
const MAXIMUM_REFUSALS_LENGTH = 500;

/**
 * Hands signed bytes to every endpoint, because one of them may drop them silently; one that takes them is enough.
 * Throws `TransactionRefusedError` when all that answered refuse it, `ChainUnavailableError` when none answered.
 */
export async function broadcast(endpoints: readonly ChainEndpoint[], rawTransaction: string): Promise<void> {
  const outcomes = await Promise.all(endpoints.map((endpoint) => send(endpoint, rawTransaction)));
  if (outcomes.includes(null)) return;
  const failures = outcomes.filter((outcome) => outcome !== null);
  const refusals = failures.filter((failure) => failure instanceof JsonRpcAnswerError);
  const messages = (refusals.length > 0 ? refusals : failures).map(({ message }) => message).join('; ');
  const text = messages.slice(0, MAXIMUM_REFUSALS_LENGTH);
  const options = { cause: (refusals.length > 0 ? refusals : failures)[0] };
  if (refusals.length > 0) throw new TransactionRefusedError(text, options);
  throw new ChainUnavailableError(`the transaction reached no endpoint: ${text}`, options);
}

/** Null when the endpoint has the transaction now. */
async function send(endpoint: ChainEndpoint, rawTransaction: string): Promise<ChainUnavailableError | null> {
  try {
    await endpoint.rpc.call('eth_sendRawTransaction', [rawTransaction]);
    return null;
  } catch (error) {
    if (error instanceof JsonRpcAnswerError && harmless.test(error.nodeMessage)) return null;
    if (error instanceof ChainUnavailableError) return error;
    throw error;
  }
}
