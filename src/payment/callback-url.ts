/**
 * Validates a callback URL without DNS. The webhook resolver checks the host's IP addresses. The raw text is checked
 * first, because the parser silently repairs full-width digits, `0x7f.1`, tabs and backslashes.
 */

import { isPublicAddress } from '../platform/public-address.ts';

/** Maximum length of a callback URL as supplied, in code points. */
export const CALLBACK_MAX_CHARACTERS = 2048;

/** Callback URL that may be stored and called. Payments store the supplied text, never `url.href`. */
export interface AcceptedCallbackUrl {
  readonly ok: true;
  readonly url: URL;
  /** Host in lower case, with IDN as punycode, no trailing dot, and no brackets around an IPv6 address. */
  readonly hostname: string;
  /** Port from 1 to 65535; 443 if the URL has none. */
  readonly port: number;
  /** `address`: public IP literal. `name`: must still resolve to public IPs. `allowed`: exception by the operator. */
  readonly kind: 'address' | 'name' | 'allowed';
}

/** Top-level labels not for public hosts, from RFC 6761, 6762, 7686 and 8375, IANA, ICANN and Kubernetes. */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set(
  (
    'localhost local internal localdomain lan home corp mail intranet private ' +
    'arpa onion invalid svc default'
  ).split(' '),
);

/** Names of cloud metadata services that look like public host names. */
const METADATA_SUFFIX =
  /(?:^|\.)metadata\.(?:goog|tencentyun\.com|platformequinix\.com|packet\.net)$|(?:^|\.)api\.metadata\.cloud\.ibm\.com$/;

const PLAIN_ASCII = /^[\x21-\x5b\x5d-\x7e]*$/;
/** Control characters, all kinds of space, the backslash, and marks that change the text direction. */
const FORBIDDEN_CHARACTER =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
  /[\u0000-\u0020\u007f-\u009f\s\\\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const HTTPS_WITH_AUTHORITY = /^https:\/\/([^/?#]+)/i;
const IPV4_LITERAL = /^\d+\.\d+\.\d+\.\d+$/;
/** Two or more labels of at most 63 letters, digits, underscores (which DNS allows) and inner hyphens. */
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const HOST_NAME_MAX_CHARACTERS = 253;

/** @param allowedHosts hosts exempt from the public-host rule only, as `host:port` in lower case, IPv6 in brackets */
export function parseCallbackUrl(
  raw: unknown,
  allowedHosts: ReadonlySet<string>,
): AcceptedCallbackUrl | ReturnType<typeof refuse> {
  if (raw === undefined || raw === null) return refuse('is required');
  if (typeof raw !== 'string') return refuse('must be a string');
  const textRefusal = refuseText(raw);
  if (textRefusal !== null) return refuse(textRefusal);

  const url = URL.parse(raw);
  if (url === null) return refuse('is not a valid URL: use one such as https://shop.example.com/webhook');
  if (url.port === '0') return refuse('must not use port 0');
  const port = url.port === '' ? 443 : Number(url.port);
  const parsedHost = url.hostname;
  if (isDisguised(authorityOf(raw), parsedHost)) {
    return refuse('must have a plain host name, without encoded or look-alike characters');
  }

  const host = parsedHost.endsWith('.') ? parsedHost.slice(0, -1) : parsedHost;
  const hostname = host.startsWith('[') ? host.slice(1, -1) : host;
  if (allowedHosts.size > 0 && allowedHosts.has(`${host}:${port}`)) {
    return { ok: true, url, hostname, port, kind: 'allowed' };
  }
  if (hostname !== host || IPV4_LITERAL.test(host)) {
    if (isPublicAddress(hostname)) return { ok: true, url, hostname, port, kind: 'address' };
    return refuse(`must not point to ${NOT_PUBLIC}`);
  }
  const nameRefusal = refuseName(hostname);
  return nameRefusal === null ? { ok: true, url, hostname, port, kind: 'name' } : refuse(nameRefusal);
}

export type ServiceLocation = ReturnType<typeof locationOf>;

export function locationOf(baseUrl: string) {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  return {
    hostname: hostname.replace(/^\[|\]$|\.$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    /** Path without a trailing slash; empty for the whole host. */
    path: pathname.replace(/\/+$/, ''),
  };
}

/** Returns whether a callback points to this service. Ignores IP addresses, which several services may share. */
export function isOwnCallback(callback: AcceptedCallbackUrl, own: ServiceLocation): boolean {
  if (callback.hostname !== own.hostname || callback.port !== own.port) return false;
  // Decodes the path and merges slashes, as a proxy or router may do.
  const pathname = percentDecoded(callback.url.pathname).replace(/\/+/g, '/');
  return pathname === own.path || pathname.startsWith(`${own.path}/`);
}

/** @param reason end of a sentence for the merchant that starts with "callback" */
function refuse(reason: string) {
  return { ok: false, reason } as const;
}

function refuseText(raw: string): string | null {
  const tooLong = `must be at most ${CALLBACK_MAX_CHARACTERS} characters long`;
  // A code point takes at most two UTF-16 units, so longer text needs no counting.
  if (raw.length > 2 * CALLBACK_MAX_CHARACTERS) return tooLong;
  if (raw.length > CALLBACK_MAX_CHARACTERS && [...raw].length > CALLBACK_MAX_CHARACTERS) return tooLong;
  if (FORBIDDEN_CHARACTER.test(raw)) {
    return 'must not contain spaces, control characters, backslashes or text direction marks';
  }
  // A lone surrogate cannot be stored as supplied, because every UTF-8 encoder replaces it.
  if (!raw.isWellFormed()) return 'must be valid Unicode text';
  if (authorityOf(raw) === '') {
    const reason = 'must begin with https:// and a host name';
    return raw.startsWith('http://') ? `${reason}. ${LOCAL_RECEIVER}` : reason;
  }
  // Checks the raw text, because the parser reports no credentials for "https://:@host".
  return authorityOf(raw).includes('@') ? 'must not contain user:password credentials' : null;
}

/** Returns the raw text between `https://` and the path; empty for any other start. */
function authorityOf(raw: string): string {
  return HTTPS_WITH_AUTHORITY.exec(raw)?.[1] ?? '';
}

/** Advice for developers, explained in docs/errors.md. */
const LOCAL_RECEIVER =
  'For a receiver on your machine, use card-checkout listen --forward-to, or allow its host with CALLBACK_ALLOWED_HOSTS';

/** End of a sentence that names the forbidden addresses and the alternatives. */
export const NOT_PUBLIC = `a private, local or reserved address. Use a public host name. ${LOCAL_RECEIVER}`;

function refuseName(name: string): string | null {
  if (name.length > HOST_NAME_MAX_CHARACTERS || !HOST_NAME.test(name)) {
    return `must use a public host name, such as shop.example.com. ${LOCAL_RECEIVER}`;
  }
  if (PRIVATE_SUFFIXES.has(name.slice(name.lastIndexOf('.') + 1))) {
    return `must use a public host name, not a name of a private network. ${LOCAL_RECEIVER}`;
  }
  return METADATA_SUFFIX.test(name) ? 'must not point to a cloud metadata service' : null;
}

/**
 * Returns whether the host is not what a reader sees: it is percent-encoded, or has characters that IDNA drops or maps
 * to plain ASCII. Labels of genuine international names become punycode and are accepted.
 */
function isDisguised(authority: string, parsedHostname: string): boolean {
  if (authority.includes('%')) return true;
  if (PLAIN_ASCII.test(authority)) return false;
  // The last raw label may still include the port, which does not affect the comparison.
  const rawLabels = authority.split(/[.\u3002\uff0e\uff61]/);
  const parsedLabels = parsedHostname.split('.');
  if (rawLabels.length !== parsedLabels.length) return true;
  return rawLabels.some((label, index) => {
    if (PLAIN_ASCII.test(label)) return false;
    return parsedLabels[index]?.startsWith('xn--') !== true || [...label].some(mapsAway);
  });
}

function mapsAway(character: string): boolean {
  if (PLAIN_ASCII.test(character)) return false;
  // Zero-width joiners occur in real names, and the parser checks their position.
  if (character === '\u200c' || character === '\u200d') return false;
  if (/\p{Default_Ignorable_Code_Point}/u.test(character)) return true;
  return PLAIN_ASCII.test(character.normalize('NFKC'));
}

/** Decodes percent-encoded ASCII, so that encoding cannot evade a comparison. Keeps all other encodings. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
