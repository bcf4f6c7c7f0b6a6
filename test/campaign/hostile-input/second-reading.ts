/**
 * The rules of a create's parameters, written a second time from the specification and without the service's code, so
 * that a mistake in one of the two shows.
 */
import { BlockList, isIP } from 'node:net';
import { isAddress } from 'viem';

/** What the rules say; `open` where this reading does not decide. */
export type Verdict = 'taken' | 'refused' | 'open';

const digits = '0123456789';

/** Cents of an amount, or null for what is none. */
export function amountCentsOf(value: unknown): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  if (Object.is(value, -0)) return null;
  const [whole = '', ...rest] = String(value).split('.');
  const fraction = rest[0] ?? '00';
  const isWritten = rest.length <= 1 && whole !== '' && fraction.length >= 1 && fraction.length <= 2;
  if (!isWritten || ![...whole, ...fraction].every((letter) => digits.includes(letter))) return null;
  if ((whole.startsWith('0') && whole !== '0') || whole.length > 5) return null;
  const cents = Number(whole) * 100 + (fraction.length === 1 ? 10 : 1) * Number(fraction);
  return cents >= 1 && cents <= 1_000_000 ? cents : null;
}

/** An exponent beyond this makes no amount. */
const MOST_EXPONENT = 20;

/** A number of JSON with all the digits it was written with: "100" for `1e2`, "0.010" for `0.010`. */
function digitsOf(written: string): string {
  const [mantissa = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  if (Math.abs(Number(exponent)) > MOST_EXPONENT) return written;
  const decimals = fraction.length - Number(exponent);
  const number = BigInt(whole + fraction);
  if (decimals <= 0) return String(number * 10n ** BigInt(-decimals));
  const digitsOfNumber = String(number).padStart(decimals + 1, '0');
  return `${digitsOfNumber.slice(0, -decimals)}.${digitsOfNumber.slice(-decimals)}`;
}

/** The object in a text, with its amount as text where it is a number. Null where the text holds no object. */
export function readCreateBody(text: string): Readonly<Record<string, unknown>> | null {
  const amounts: { readonly of: unknown; readonly written: string }[] = [];
  try {
    const root: unknown = JSON.parse(
      text,
      function (this: unknown, name, value, context?: { source?: string }) {
        if (name === 'amount' && typeof value === 'number') {
          amounts.push({ of: this, written: context?.source ?? '' });
        }
        return value;
      },
    );
    if (typeof root !== 'object' || root === null || Array.isArray(root)) return null;
    const own = amounts.find((amount) => amount.of === root);
    return own === undefined ? (root as Record<string, unknown>) : { ...root, amount: digitsOf(own.written) };
  } catch {
    return null;
  }
}

/** A note as it is kept: text areas send CRLF. */
export function keptNote(note: unknown): unknown {
  return typeof note === 'string' ? note.split('\r\n').join('\n') : note;
}

/** Whether an address is one that may be paid out to. */
export function isPayoutAddress(value: unknown, reserved: ReadonlySet<string>): boolean {
  if (typeof value !== 'string' || value.length !== 42 || !value.startsWith('0x')) return false;
  const hex = value.slice(2);
  if (![...hex].every((letter) => '0123456789abcdefABCDEF'.includes(letter)) || /^0+$/.test(hex))
    return false;
  const isOneCase = hex === hex.toLowerCase() || hex === hex.toUpperCase();
  // Only of mixed case does a checksum stand in the letters.
  if (!isOneCase && !isAddress(value, { strict: true })) return false;
  return ![...reserved].some((own) => own.toLowerCase() === value.toLowerCase());
}

export function isNote(value: unknown): boolean {
  const kept = keptNote(value);
  if (typeof kept !== 'string' || kept === '') return false;
  const points = [...kept].map((character) => character.codePointAt(0) as number);
  const isControl = (point: number) =>
    (point < 32 && point !== 9 && point !== 10) || (point >= 127 && point < 160);
  const isHalf = (point: number) => point >= 0xd800 && point <= 0xdfff;
  return points.length <= 500 && !points.some((point) => isControl(point) || isHalf(point));
}

/** A given email; an empty one counts as none. */
export function isEmailOrBlank(value: unknown): boolean {
  if (typeof value !== 'string' || value.includes('\n') || value.includes('\r')) return false;
  const email = value.trim();
  if (email === '') return true;
  const [local = '', domain = '', ...more] = email.split('@');
  if (more.length > 0 || local === '' || local.length > 64 || email.length > 254) return false;
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const consistsOf = (text: string, allowed: string) =>
    [...text].every((letter) => letter.charCodeAt(0) < 128 && allowed.includes(letter.toLowerCase()));
  return (
    consistsOf(local, `${letters}.!#$%&'*+/=?^_\`{|}~-`) &&
    domain.split('.').every((label) => {
      const isBounded = label.length >= 1 && label.length <= 63;
      return isBounded && consistsOf(label, `${letters}-`) && !label.startsWith('-') && !label.endsWith('-');
    })
  );
}

/** Two lists, because one matches an IPv4 address against its IPv6 ranges too. */
const private4 = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  private4.addSubnet(network, prefix, 'ipv4');
}
const private6 = new BlockList();
for (const [network, prefix] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
] as const) {
  private6.addSubnet(network, prefix, 'ipv6');
}

const innerNames = /(?:^|\.)(?:localhost|local|internal|lan|home|corp|arpa|onion|invalid)\.?$/i;
/** What must be taken: plain names of a public suffix, a usual port, and harmless letters behind. */
const plainCallback =
  /^https:\/\/(?:[a-z](?:[a-z0-9]{0,20}[a-z0-9])?\.){1,3}(?:com|org|io)(?::(?:443|8443))?(?:\/[a-z0-9/]{0,200})?(?:\?[a-z0-9=&]{0,200})?$/;

/** What is known of a callback without being its judge: plain ones are taken, dangerous ones refused. */
export function verdictOfCallback(value: unknown): Verdict {
  if (typeof value !== 'string' || [...value].length > 2048) return 'refused';
  if (!value.toLowerCase().startsWith('https://')) return 'refused';
  const hasOddLetter = [...value].some((letter) => letter <= ' ' || letter === '\\' || letter === '\x7f');
  if (hasOddLetter || !URL.canParse(value)) return 'refused';
  const { username, password, hostname } = new URL(value);
  if (username !== '' || password !== '') return 'refused';
  const host = hostname.replace(/^\[|\]$/g, '');
  const version = isIP(host);
  if (version === 4 && private4.check(host, 'ipv4')) return 'refused';
  if (version === 6 && private6.check(host, 'ipv6')) return 'refused';
  if (version === 0 && (innerNames.test(host) || !host.includes('.'))) return 'refused';
  return plainCallback.test(value) && !/metadata/.test(value) ? 'taken' : 'open';
}
