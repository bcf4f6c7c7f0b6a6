import { decodeErrorResult } from 'viem/utils';
import { JsonRpcAnswerError } from './json-rpc.ts';
import { toQuantity } from './node-answers.ts';

const MAXIMUM_REASON_LENGTH = 200;

/** Error code that Ethereum clients use for a reverted call. */
const REVERTED_CODE = 3;

/** Returns a short reason of a revert; null if the endpoint failed. Nodes report a revert by code, data or message. */
export function revertReasonOf(error: unknown): string | null {
  if (!(error instanceof JsonRpcAnswerError)) return null;
  const data = revertDataOf(error.data);
  const isRevert = error.code === REVERTED_CODE || data !== null || /revert/i.test(error.nodeMessage);
  if (!isRevert) return null;
  const decoded = data === null ? null : decodeRevertData(data);
  return printable(decoded ?? error.nodeMessage.replace(/^execution reverted:? ?/i, ''));
}

/** Returns revert data in lower case. Some nodes wrap it in an object. */
function revertDataOf(data: unknown): `0x${string}` | null {
  const bytes = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
  if (typeof bytes !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(bytes)) return null;
  return bytes.toLowerCase() as `0x${string}`;
}

/** Returns the text of a `require`, the code of a panic or, for any other error, its selector. */
function decodeRevertData(data: `0x${string}`): string | null {
  try {
    const { errorName, args: [reason] = [] } = decodeErrorResult({ data });
    return errorName === 'Panic' ? `panic ${toQuantity(reason as bigint)}` : String(reason);
  } catch {
    return data.length < 10 ? null : `error ${data.slice(0, 10)}`;
  }
}

/** Shortens a contract's text and keeps only printable ASCII, for logs and pages. */
function printable(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]+/g, ' ').trim();
  if (plain === '') return 'reverted without a reason';
  return plain.length <= MAXIMUM_REASON_LENGTH ? plain : `${plain.slice(0, MAXIMUM_REASON_LENGTH - 1)}…`;
}
