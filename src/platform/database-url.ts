import { isLoopbackHost } from './public-address.ts';

/** Limits the time for a new connection while most hosts are down. */
const MAXIMUM_HOSTS = 5;
const NO_URL =
  'DATABASE_URL must be empty for SQLite in DATA_DIR, or a postgres:// URL. Encode special characters of its password, such as %40 for @.';
/** Scheme and credentials, the hosts, and the rest. The credentials end with the last `@`, as in `URL`. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;
/** The service writes, so no other value of libpq makes sense. */
const SESSION_ATTRIBUTES = ['read-write', 'primary'];

/** URLs of the servers of `postgresql://user:password@host1:5432,host2:5432/database`. Errors omit the password. */
export function databaseUrls(text: string): readonly string[] {
  const [, scheme = '', hosts = '', rest = ''] = PARTS.exec(text) ?? [];
  if (scheme === '') throw new Error(NO_URL);
  const names = hosts.split(',');
  const urls = names.map((name) => `${scheme}${name}${rest}`);
  if (names.length > MAXIMUM_HOSTS) throw new Error(`DATABASE_URL names more than ${MAXIMUM_HOSTS} hosts.`);
  for (const [index, url] of urls.entries()) {
    const isWrong = !URL.canParse(url) || (names.length > 1 && new URL(url).hostname === '');
    if (isWrong && names.length === 1) throw new Error(NO_URL);
    if (isWrong) throw new Error(`DATABASE_URL has a host ${index + 1} that is not HOST or HOST:PORT.`);
  }
  const { searchParams } = new URL(urls[0] as string);
  if (names.length > 1 && (searchParams.has('host') || searchParams.has('port')))
    throw new Error('DATABASE_URL names hosts in a list: remove the parameters host and port.');
  const attributes = searchParams.get('target_session_attrs');
  if (attributes !== null && !SESSION_ATTRIBUTES.includes(attributes))
    throw new Error('DATABASE_URL can have target_session_attrs=read-write only: the service writes.');
  for (const [name, value] of searchParams)
    if (value === '' || searchParams.getAll(name).length > 1)
      throw new Error('DATABASE_URL has a parameter twice, or one without a value.');
  return urls.map(translate);
}

/** Replaces parameters that managed services print and the driver reads differently. */
function translate(text: string): string {
  const url = new URL(text);
  const { searchParams } = url;
  // `system` means Node's own root certificates, but the driver would read a file of this name.
  const isSystem = searchParams.get('sslrootcert') === 'system';
  if (isSystem) searchParams.delete('sslrootcert');
  const mode = searchParams.get('sslmode') ?? (isSystem ? 'require' : '');
  // The driver checks the certificate in all of these modes, and warns that a later version will not.
  if (/^(prefer|require|verify-ca)$/.test(mode) && !searchParams.has('uselibpqcompat'))
    searchParams.set('sslmode', 'verify-full');
  if (searchParams.get('pgbouncer') === 'true') searchParams.set('prepared_statements', 'false');
  return searchParams.toString() === new URL(text).searchParams.toString() ? text : url.href;
}

/** Servers beyond this machine and its container network to which the connection is not encrypted. */
export function unencryptedHosts(text: string): readonly string[] {
  return databaseUrls(text).flatMap((each) => {
    const { hostname, searchParams } = new URL(each);
    const host = searchParams.get('host') ?? hostname;
    const asksForTls = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].some((name) => searchParams.has(name));
    const isEncrypted =
      searchParams.get('sslmode') !== 'disable' &&
      (asksForTls || /^(true|1)$/.test(searchParams.get('ssl') ?? ''));
    const isNear = host.startsWith('/') || !/[.:]/.test(host) || isLoopbackHost(host);
    return isEncrypted || isNear ? [] : [host];
  });
}
