import { isLoopbackHost } from './public-address.ts';

/** Maximum hosts, to limit the time for connecting while most hosts are down. */
const MAXIMUM_HOSTS = 5;
const NO_URL =
  'DATABASE_URL must be empty for SQLite in DATA_DIR, or a postgres:// URL. Encode special characters of its password, such as %40 for @.';
/** Groups: scheme with credentials, hosts, and the rest. Credentials end at the last `@`, as in the `URL` parser. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;
/** Accepted values of `target_session_attrs`. Other values of libpq are useless, because the service must write. */
const SESSION_ATTRIBUTES = ['read-write', 'primary'];

/** Splits `postgresql://user:password@host1:5432,host2:5432/database` into a URL per host. Errors omit the password. */
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

/** Replaces parameters in URLs of managed databases that the driver would interpret differently. */
function translate(text: string): string {
  const url = new URL(text);
  const { searchParams } = url;
  // Replaces `system`, which means the default root certificates, but which the driver would read as a file name.
  const isSystem = searchParams.get('sslrootcert') === 'system';
  if (isSystem) searchParams.delete('sslrootcert');
  const mode = searchParams.get('sslmode') ?? (isSystem ? 'require' : '');
  // Replaces modes that the driver treats as `verify-full` today, because a later version will verify less.
  if (/^(prefer|require|verify-ca)$/.test(mode) && !searchParams.has('uselibpqcompat'))
    searchParams.set('sslmode', 'verify-full');
  if (searchParams.get('pgbouncer') === 'true') searchParams.set('prepared_statements', 'false');
  return searchParams.toString() === new URL(text).searchParams.toString() ? text : url.href;
}

/** Returns the hosts with unencrypted connections, except on this machine and its container network. */
export function unencryptedHosts(text: string): readonly string[] {
  return databaseUrls(text).flatMap((each, _, all) => {
    const { hostname, searchParams } = new URL(each);
    const host = searchParams.get('host') ?? hostname;
    const asksForTls = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'].some((name) => searchParams.has(name));
    const isEncrypted =
      searchParams.get('sslmode') !== 'disable' &&
      (asksForTls || /^(true|1)$/.test(searchParams.get('ssl') ?? ''));
    const isContainer = all.length === 1 && !/[.:]/.test(host);
    const isNear = host.startsWith('/') || isContainer || isLoopbackHost(host);
    return isEncrypted || isNear ? [] : [host];
  });
}
