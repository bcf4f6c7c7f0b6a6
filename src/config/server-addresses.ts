import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { isLoopbackHost, isSecureUrl } from '../platform/public-address.ts';
import { codeOf, type Reader } from './reader.ts';

export const HIGHEST_PORT = 65_535;

/** Reads the TLS files. The certificate chain and the private key (PEM) must be readable and match. */
export function readTls(read: Reader) {
  const certFile = read.text('TLS_CERT_FILE');
  const keyFile = read.text('TLS_KEY_FILE');
  if (certFile !== null && keyFile === null) read.refuse('TLS_KEY_FILE is missing: TLS_CERT_FILE is set.');
  if (keyFile !== null && certFile === null) read.refuse('TLS_CERT_FILE is missing: TLS_KEY_FILE is set.');
  if (certFile === null || keyFile === null) return null;
  const cert = read.file('TLS_CERT_FILE', certFile);
  const key = read.file('TLS_KEY_FILE', keyFile);
  try {
    if (cert !== null && key !== null) createSecureContext({ cert, key });
  } catch (error) {
    read.refuse(`TLS_CERT_FILE and TLS_KEY_FILE are no certificate with its key (${codeOf(error)}).`);
  }
  return { certFile, keyFile };
}

/** Reads the IP address or host name to listen on; loopback by default. */
export function readHost(read: Reader, name: 'HOST' | 'ADMIN_HOST'): string {
  const value = read.text(name) ?? '127.0.0.1';
  if (isIP(value) === 0 && !/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i.test(value))
    read.refuse(`${name} must be an IP address or a host name, without a port.`);
  return value;
}

/** @param port port of the public server; the default is the next port */
export function readAdminPort(read: Reader, port: number): number {
  const adminPort = read.integer('ADMIN_PORT', port + 1, 1, HIGHEST_PORT);
  if (adminPort > HIGHEST_PORT) read.refuse('ADMIN_PORT must be set: PORT + 1 is no port.');
  return adminPort;
}

/** Reads the URL of a server; null if it is unset or refused. */
export function readPlainUrl(read: Reader, name: string): URL | null {
  const value = read.text(name);
  const url = value !== null && isHttpUrl(value) && !/[?#]/.test(value) ? new URL(value) : null;
  if (url?.username === '' && url.password === '') return url;
  if (value !== null) read.refuse(`${name} must be an http(s) URL without query, fragment or credentials.`);
  return null;
}

/** Reads the public root URL of a server, without a trailing slash. */
export function readBaseUrl(
  read: Reader,
  name: 'BASE_URL' | 'ADMIN_BASE_URL',
  { isLive, isTls, port }: { readonly isLive: boolean; readonly isTls: boolean; readonly port: number },
): string {
  const fallback = `${isTls ? 'https' : 'http'}://localhost:${port}`;
  const url = readPlainUrl(read, name);
  if (url === null) return fallback;
  if (!/^\/*$/.test(url.pathname))
    read.refuse(
      `${name} must be without a path: give it a host name of its own, such as https://pay.example.com.`,
    );
  if (isLive && url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    read.refuse(`${name} must begin with https:// in live mode, unless it is loopback.`);
  return url.origin;
}

/** Reads the IP addresses and networks (CIDR) of proxies. */
export function readTrustProxy(read: Reader): readonly string[] {
  const networks = read.list('TRUST_PROXY');
  for (const network of networks) {
    const [address = '', prefix, ...rest] = network.split('/');
    const version = isIP(address);
    const longest = version === 6 ? 128 : 32;
    const isPrefixValid =
      prefix === undefined ||
      (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= longest && rest.length === 0);
    if (version === 0 || !isPrefixValid)
      read.refuse(`TRUST_PROXY: ${network} is no network (10.0.0.0/8, ::1).`);
  }
  return networks;
}

export function readCountryHeader(read: Reader): string | null {
  const name = read.text('COUNTRY_HEADER');
  if (name !== null && !/^[a-z][a-z0-9-]{0,60}$/i.test(name))
    read.refuse('COUNTRY_HEADER must be the name of a header.');
  return name?.toLowerCase() ?? null;
}

/** Reads hosts of the form `host:port`, in lower case. */
export function readAllowedHosts(read: Reader): ReadonlySet<string> {
  const hosts = read.list('CALLBACK_ALLOWED_HOSTS').map((entry) => entry.toLowerCase());
  for (const entry of hosts) {
    const port = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+):([1-9]\d{0,4})$/.exec(entry)?.[1];
    if (port === undefined || Number(port) > HIGHEST_PORT) {
      read.refuse(`CALLBACK_ALLOWED_HOSTS: ${entry} is not of the form host:port.`);
    }
  }
  return new Set(hosts);
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** Returns whether a URL is safe for credentials and trusted answers: no intermediary can read or change them. */
export function isSecureHttpUrl(text: string): boolean {
  return isHttpUrl(text) && isSecureUrl(new URL(text));
}

/** Reads the mail server and the sender, both or neither. Errors omit the URL, which contains a password. */
export function readMail(read: Reader, baseUrl: string) {
  const url = read.text('SMTP_URL');
  const from = read.text('MAIL_FROM');
  if (url === null && from === null) return null;
  if (url === null) read.refuse('SMTP_URL is missing: MAIL_FROM is set.');
  else if (!isMailServerUrl(url))
    read.refuse('SMTP_URL must be smtp://user:password@host:port, or smtps://.');
  if (from === null) read.refuse('MAIL_FROM is missing: SMTP_URL is set.');
  else if (!/^(?:[^<>@\r\n]{1,100} )?<?[^\s@<>,]+@[^\s@<>,]+>?$/.test(from))
    read.refuse('MAIL_FROM must be one email address, with or without a name: Shop <pay@example.com>.');
  return url === null || from === null ? null : { url, from, helloName: publicNameOf(baseUrl) };
}

/** Returns the public host name; null for a bare name or an IP address, which mail servers refuse in EHLO. */
function publicNameOf(baseUrl: string): string | null {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  return /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(host) ? host : null;
}

function isMailServerUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return false;
  return /^\/?$/.test(url.pathname) && [url.username, url.password].every(isDecodable);
}

/** Returns whether a text can be percent-decoded. Otherwise, a password with a lone % fails only at the first email. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
