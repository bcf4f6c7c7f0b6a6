/**
 * A real WordPress with WooCommerce, MariaDB and the plugin, behind TLS.
 *
 * WordPress and WooCommerce are not on the package registries that the project uses, so their folders are given:
 * WORDPRESS_DIR (an unpacked WordPress) and WOOCOMMERCE_DIR (its plugin folder). Needs `php` 8.1 with mysqli, and `mariadbd`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestCertificateAuthority } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { waitFor } from '../support/wait-for.ts';

const run = promisify(execFile);
const plugin = join(import.meta.dirname, '..', '..', 'plugins', 'woocommerce', 'card-checkout');
const DATABASE_START_MS = 30_000;

export interface ShopSources {
  readonly wordpressDir: string;
  readonly woocommerceDir: string;
}

/** How orders are stored: in tables of their own, or as posts. */
export type OrderStorage = 'hpos' | 'posts';

export interface ShopSettings {
  readonly storage: OrderStorage;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly payoutAddress: string;
}

/** A shop whose address is known before it is set up, because the service is told about it first. */
export interface RealShop {
  /** `localhost:port` */
  readonly host: string;
  readonly url: string;
  readonly caPem: string;
  /** Installs and starts it. Returns the id of its product. */
  setUp(settings: ShopSettings): Promise<number>;
  php(code: string): Promise<string>;
  /** What WordPress logged: notices and warnings of any plugin. */
  debugLog(): string;
  stop(): Promise<void>;
}

export async function openRealShop({ wordpressDir, woocommerceDir }: ShopSources): Promise<RealShop> {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-shop-'));
  const site = join(folder, 'site');
  const socket = join(folder, 'db.sock');
  const [phpPort, tlsPort] = (await freePorts(2)) as [number, number];
  const url = `https://localhost:${tlsPort}`;
  const authority = await createTestCertificateAuthority();
  const { certPem, keyPem } = await authority.issue({ names: ['localhost'] });
  const children: ChildProcess[] = [];
  let proxy: Server | null = null;

  const phpEnvironment = {
    PATH: process.env['PATH'],
    WP_ROOT: site,
    WP_HOME: url,
    PHP_CLI_SERVER_WORKERS: '4',
  };
  const start = (command: string, args: readonly string[]) => {
    // A group of its own: the workers of PHP's server end with it.
    const child = spawn(command, args, { env: phpEnvironment, stdio: 'ignore', detached: true });
    children.push(child);
    return child;
  };

  async function startDatabase(): Promise<void> {
    const data = join(folder, 'db');
    await run('mariadb-install-db', [
      `--datadir=${data}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--user=root',
    ]);
    start('mariadbd', [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socket}`,
      '--skip-networking',
      '--user=root',
      '--innodb-flush-log-at-trx-commit=0',
    ]);
    await waitFor('the database', DATABASE_START_MS, () =>
      run('mariadb', [`--socket=${socket}`, '-uroot', '-e', 'CREATE DATABASE IF NOT EXISTS shop']).then(
        () => true,
        () => false,
      ),
    );
  }

  function layOut(): void {
    cpSync(wordpressDir, site, { recursive: true });
    const plugins = join(site, 'wp-content', 'plugins');
    mkdirSync(plugins, { recursive: true });
    cpSync(woocommerceDir, join(plugins, 'woocommerce'), { recursive: true });
    cpSync(plugin, join(plugins, 'card-checkout'), { recursive: true });
    writeFileSync(
      join(site, 'wp-config.php'),
      `<?php
define('DB_NAME', 'shop'); define('DB_USER', 'root'); define('DB_PASSWORD', ''); define('DB_HOST', 'localhost:${socket}');
define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', ''); $table_prefix = 'wp_';
define('WP_HOME', '${url}'); define('WP_SITEURL', '${url}');
define('WP_DEBUG', true); define('WP_DEBUG_LOG', '${join(folder, 'debug.log')}'); define('WP_DEBUG_DISPLAY', false);
define('WP_HTTP_BLOCK_EXTERNAL', true); define('WP_ACCESSIBLE_HOSTS', '127.0.0.1'); define('DISABLE_WP_CRON', true);
if (($_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '') === 'https') { $_SERVER['HTTPS'] = 'on'; }
if (!defined('ABSPATH')) { define('ABSPATH', __DIR__ . '/'); }
require_once ABSPATH . 'wp-settings.php';
`,
    );
    writeFileSync(
      join(folder, 'router.php'),
      `<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if (is_dir($file) && is_file(rtrim($file, '/') . '/index.php') && $path !== '/') {
    $_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = rtrim($path, '/') . '/index.php';
    chdir($file); require rtrim($file, '/') . '/index.php'; return true;
}
if (is_file($file)) { return false; }
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
`,
    );
  }

  function startProxy(): Promise<void> {
    proxy = createServer({ cert: certPem, key: keyPem }, (incoming, outgoing) => {
      const headers = { ...incoming.headers, 'x-forwarded-proto': 'https' };
      const forwarded = request(
        { host: '127.0.0.1', port: phpPort, method: incoming.method, path: incoming.url, headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        },
      );
      forwarded.on('error', () => outgoing.writeHead(502).end());
      incoming.pipe(forwarded);
    });
    // On a busy machine a browser would find its idle connections closed again and again.
    proxy.keepAliveTimeout = 120_000;
    return new Promise((resolve) => (proxy as Server).listen(tlsPort, '127.0.0.1', resolve));
  }

  return {
    host: `localhost:${tlsPort}`,
    url,
    caPem: authority.caPem,
    async setUp({ storage, serviceUrl, apiKey, payoutAddress }) {
      layOut();
      await startDatabase();
      const env = {
        ...phpEnvironment,
        SHOP_STORAGE: storage,
        SERVICE_URL: serviceUrl,
        SERVICE_KEY: apiKey,
        PAYOUT_ADDRESS: payoutAddress,
      };
      const install = join(import.meta.dirname, 'install-shop.php');
      let printed = '';
      for (const step of ['install', 'activate', 'settings']) {
        printed = await run('php', [install, step], { env }).then(
          ({ stdout }) => stdout,
          (error: { stdout: string; stderr: string }) => {
            throw new Error(`${step}: ${error.stderr}${error.stdout.slice(-2_000)}`);
          },
        );
      }
      start('php', ['-S', `127.0.0.1:${phpPort}`, '-t', site, join(folder, 'router.php')]);
      await startProxy();
      return (JSON.parse(printed.slice(printed.lastIndexOf('{'))) as { product: number }).product;
    },
    async php(code) {
      const prelude = `$_SERVER['HTTP_HOST'] = 'localhost:${tlsPort}'; $_SERVER['HTTPS'] = 'on'; require getenv('WP_ROOT') . '/wp-load.php';`;
      const { stdout } = await run('php', ['-r', `${prelude} ${code}`], { env: phpEnvironment });
      return stdout;
    },
    debugLog() {
      try {
        return readFileSync(join(folder, 'debug.log'), 'utf8');
      } catch {
        return '';
      }
    },
    async stop() {
      proxy?.closeAllConnections();
      await new Promise((resolve) => (proxy === null ? resolve(null) : proxy.close(resolve)));
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = new Promise((resolve) => child.once('exit', resolve));
          process.kill(-(child.pid as number), 'SIGTERM');
          await ended;
        }),
      );
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
