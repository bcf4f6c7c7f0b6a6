import { decodeAbiParameters } from 'viem/utils';
import { JsonRpcAnswerError } from './json-rpc.ts';

const MAXIMUM_REASON_LENGTH = 200;
const ERROR_SELECTOR = '0x08c379a0'; // Error(string), what `require` gives
const PANIC_SELECTOR = '0x4e487b71'; // Panic(uint256), a failed assertion or an overflow

/** Code of Ethereum clients for a reverted call. */
const REVERTED_CODE = 3;

/** Short reason of a reverted call; null if the endpoint failed. Nodes report a revert by code, data or message. */
export function revertReasonOf(error: unknown): string | null {
  if (!(error instanceof JsonRpcAnswerError)) return null;
  const data = revertDataOf(error.data);
  const isRevert = error.code === REVERTED_CODE || data !== null || /revert/i.test(error.nodeMessage);
  if (!isRevert) return null;
  const decoded = data === null ? null : decodeRevertData(data);
  return printable(decoded ?? error.nodeMessage.replace(/^execution reverted:? ?/i, ''));
}

/** Revert data, which some nodes wrap in an object. */
function revertDataOf(data: unknown): `0x${string}` | null {
  const bytes = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
  return typeof bytes === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(bytes) ? (bytes as `0x${string}`) : null;
}

function decodeRevertData(data: `0x${string}`): string | null {
  const selector = data.slice(0, 10).toLowerCase();
  const parameters: `0x${string}` = `0x${data.slice(10)}`;
  try {
    if (selector === ERROR_SELECTOR) return decodeAbiParameters([{ type: 'string' }], parameters)[0];
    if (selector === PANIC_SELECTOR) {
      return `panic 0x${decodeAbiParameters([{ type: 'uint256' }], parameters)[0].toString(16)}`;
    }
  } catch {
    // A contract may put anything behind these selectors; the selector alone is then the reason.
  }
  return selector.length === 10 ? `error ${selector}` : null;
}

/** Shortens a contract's text to printable ASCII, for logs and pages. */
function printable(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]+/g, ' ').trim();
  if (plain === '') return 'reverted without a reason';
  return plain.length <= MAXIMUM_REASON_LENGTH ? plain : `${plain.slice(0, MAXIMUM_REASON_LENGTH - 1)}…`;
}
