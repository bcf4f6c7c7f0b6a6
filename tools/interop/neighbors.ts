/** Starts pgbouncer, Prometheus, and proxies with the files of deploy/, free ports and a test certificate. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { codeBlocks, read } from '../../test/docs/markdown.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import { waitFor } from '../../test/support/wait-for.ts';

export interface Neighbor {
  stop(): Promise<void>;
}

export interface ProxyOptions {
  readonly folder: string;
  /** Port of the first instance. */
  readonly port: number;
  readonly secondPort?: number;
  readonly httpPort: number;
  readonly httpsPort: number;
}

const START_MS = 20_000;
const isRoot = process.getuid?.() === 0;
const deploy = (name: string) => readFileSync(join(import.meta.dirname, '..', '..', 'deploy', name), 'utf8');

/** Creates the certificate once. */
export function certificateIn(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  if (existsSync(cert)) return { cert, key };
  const subject = ['-subj', '/CN=pay.example.com', '-addext', 'subjectAltName=DNS:pay.example.com'];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  writeFileSync(join(folder, 'both.pem'), readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
  return { cert, key };
}

/** Replaces each of these texts; throws if the file of deploy/ lacks one. */
function replaced(text: string, changes: readonly (readonly [string, string | undefined])[]): string {
  return changes.reduce((result, [from, to]) => {
    if (to === undefined) return result;
    if (!result.includes(from)) throw new Error(`the file in deploy/ has no "${from}"`);
    return result.replaceAll(from, to);
  }, text);
}

async function start(
  port: number,
  command: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Neighbor> {
  const child = spawn(command, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin`, ...environment },
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output = `${output}${chunk.toString()}`.slice(-4_000);
  });
  const deadlineMs = Date.now() + START_MS;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || Date.now() > deadlineMs)
      throw new Error(`${command} did not start:\n${output}`);
    await delay(50);
  }
  return {
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function startNginx(options: ProxyOptions): Promise<Neighbor> {
  const { folder, port, secondPort, httpPort, httpsPort } = options;
  certificateIn(folder);
  chmodSync(folder, 0o755);
  const site = replaced(deploy('nginx.conf'), [
    ['/etc/ssl/card-checkout', folder],
    ['server 127.0.0.1:3000', `server 127.0.0.1:${port}`],
    ['# server 127.0.0.1:3010', secondPort ? `server 127.0.0.1:${secondPort}` : undefined],
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen [::]:80;', ''],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${httpsPort} ssl http2;`],
    ['listen [::]:443 ssl http2;', ''],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const head = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; events {}`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `${head} http { access_log off; ${temporary.join(' ')}\n${site} }`);
  return start(httpsPort, 'nginx', ['-c', file]);
}

async function startHaproxy(options: ProxyOptions): Promise<Neighbor> {
  const { folder, port, secondPort, httpPort, httpsPort } = options;
  certificateIn(folder);
  const file = join(folder, 'haproxy.cfg');
  const text = replaced(deploy('haproxy.cfg'), [
    ['bind :80\n', `bind 127.0.0.1:${httpPort}\n`],
    ['bind :443 ', `bind 127.0.0.1:${httpsPort} `],
    ['/etc/haproxy/pay.example.com.pem', join(folder, 'both.pem')],
    // Only root can switch to another user.
    ['    user haproxy\n    group haproxy\n    chroot /var/lib/haproxy\n', isRoot ? undefined : ''],
    ['127.0.0.1:3000', `127.0.0.1:${port}`],
    ['# server two 127.0.0.1:3010', secondPort ? `server two 127.0.0.1:${secondPort}` : undefined],
  ]);
  writeFileSync(file, text);
  return start(httpsPort, 'haproxy', ['-db', '-f', file]);
}

async function startCaddy({ folder, port, httpPort, httpsPort }: ProxyOptions): Promise<Neighbor> {
  const { cert, key } = certificateIn(folder);
  const file = join(folder, 'Caddyfile');
  const text = replaced(`\n${deploy('Caddyfile')}`, [
    ['\npay.example.com {', `\nhttps://pay.example.com:${httpsPort} {\n\ttls ${cert} ${key}`],
    ['\nhttp://pay.example.com {', `\nhttp://pay.example.com:${httpPort} {`],
  ]);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${text}`);
  const words = ['run', '--adapter', 'caddyfile', '--config', file];
  return start(httpsPort, 'caddy', words, { HOME: folder, UPSTREAM: `127.0.0.1:${port}` });
}

export const proxies = { nginx: startNginx, haproxy: startHaproxy, caddy: startCaddy } as const;

/** Prometheus with the scrape configuration of docs/operating.md and the rules of docs/monitoring, each second. */
export async function startPrometheus(
  folder: string,
  adminPort: number,
): Promise<Neighbor & { readonly url: string }> {
  const [port = 0] = await freePorts(1);
  const home = join(folder, 'prometheus');
  mkdirSync(home);
  writeFileSync(join(home, 'alerts.yml'), read('docs/monitoring/alerts.yml'));
  const scrape = codeBlocks(read('docs/operating.md'), 'yaml').find((block) =>
    block.includes('scrape_configs'),
  );
  const targets = replaced(scrape ?? '', [['127.0.0.1:3001', `127.0.0.1:${adminPort}`]]);
  const global = 'global: { scrape_interval: 1s, evaluation_interval: 1s }';
  const file = join(home, 'prometheus.yml');
  writeFileSync(file, `${global}\n${targets}`);
  const words = [`--config.file=${file}`, `--storage.tsdb.path=${join(home, 'data')}`];
  const address = `127.0.0.1:${port}`;
  const started = await start(port, 'prometheus', [...words, `--web.listen-address=${address}`]);
  // Prometheus listens before it answers queries.
  await waitFor('Prometheus', 30_000, async () => (await fetch(`http://${address}/-/ready`)).ok);
  return { ...started, url: `http://${address}` };
}

/** pgbouncer in transaction mode in front of a database without passwords. */
export async function startPgbouncer(
  databaseUrl: string,
  folder: string,
): Promise<Neighbor & { readonly url: string }> {
  const { hostname, port: serverPort, pathname, username } = new URL(databaseUrl);
  const [port = 0] = await freePorts(1);
  const home = join(folder, 'pgbouncer-home');
  mkdirSync(home);
  const users = join(home, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  const file = join(home, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${users}
pool_mode = transaction
default_pool_size = 20
max_client_conn = 200
ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout
`,
  );
  chmodSync(folder, 0o755);
  // pgbouncer refuses to run as root.
  const words = isRoot ? ['-u', 'nobody', file] : [file];
  const started = await start(port, 'pgbouncer', words);
  // Before 1.21, pgbouncer does not support prepared statements in transaction mode.
  return { ...started, url: `postgres://${username}@127.0.0.1:${port}${pathname}?prepared_statements=false` };
}
