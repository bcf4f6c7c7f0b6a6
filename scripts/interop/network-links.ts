/** A network namespace of its own for a service, and links between it and this machine whose packets can be delayed or lost. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CutOff, startCutOff } from '../../test/support/cut-off.ts';

/** What is at the other end of each link, in the order of their numbers. Merchants have one that is never disturbed. */
export const linkNames = ['database', 'chain', 'provider', 'merchant'] as const;
export type LinkName = (typeof linkNames)[number];

/** For packets in either direction. */
export interface LinkFault {
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly lossPercent: number;
}

export interface NetworkLinks {
  /** The program that starts a service in the namespace, with its arguments. */
  readonly through: readonly string[];
  /** What the service needs to be reached at the port that `publish` is told. */
  readonly serviceEnvironment: { readonly HOST: string; readonly TRUST_PROXY: string };
  /** Leads connections to this port on the namespace's loopback over the link, to the same port on loopback here. */
  connect(link: LinkName, port: number): Promise<void>;
  /** Leads connections to this port on loopback here to the service in the namespace. */
  publish(port: number): Promise<void>;
  setFault(link: LinkName, fault: LinkFault): void;
  /** Ends what runs in the namespace, and removes it. */
  stop(): Promise<void>;
}

const hereOf = (link: LinkName) => `198.18.${linkNames.indexOf(link) + 1}.1`;
const thereOf = (link: LinkName) => `198.18.${linkNames.indexOf(link) + 1}.2`;

/** Why no links can be made on this machine; undefined where they can. */
export function obstacleToLinks(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'network namespaces need root on Linux';
  if (!existsSync('/dev/net/tun')) return 'this kernel has no TUN devices';
  const missing = ['ip', 'nft', 'python3'].filter((name) => spawnSync(name, ['-V']).error !== undefined);
  return missing.length > 0 ? `not installed: ${missing.join(', ')}` : undefined;
}

/** Reaches the ports of its own loopback over the links: its variables stay as they are. */
const RULES = `table ip links {
  chain leaving { type nat hook output priority -100; }
  chain left { type nat hook postrouting priority 100; oifname != "lo" masquerade; }
}`;

export async function startNetworkLinks(): Promise<NetworkLinks> {
  const namespace = `card-checkout-${process.pid}`;
  const through = ['ip', 'netns', 'exec', namespace];
  const run = (...words: string[]) => execFileSync('ip', [...through.slice(1), ...words]);
  const links = spawn(
    'python3',
    [join(import.meta.dirname, 'link.py'), namespace, `cc${process.pid}_`, String(linkNames.length)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const forwarders: CutOff[] = [];
  async function stop(): Promise<void> {
    for (const forwarder of forwarders) await forwarder.close();
    await endLinks(links);
  }
  try {
    await Promise.race([once(links.stdout, 'data'), refuseEnd(links)]);
    run('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet');
    run('nft', RULES);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    through,
    serviceEnvironment: { HOST: '0.0.0.0', TRUST_PROXY: hereOf('merchant') },
    async connect(link, port) {
      forwarders.push(await startCutOff(port, { host: hereOf(link), port }));
      const target = `ip daddr 127.0.0.1 tcp dport ${port} dnat to ${hereOf(link)}:${port}`;
      run('nft', `add rule ip links leaving ${target}`);
    },
    async publish(port) {
      forwarders.push(await startCutOff(port, { port, targetHost: thereOf('merchant') }));
    },
    setFault(link, { delayMs, jitterMs, lossPercent }) {
      links.stdin.write(`${linkNames.indexOf(link) + 1} ${delayMs} ${jitterMs} ${lossPercent}\n`);
    },
    stop,
  };
}

async function refuseEnd(links: ChildProcess): Promise<never> {
  const [code] = (await once(links, 'exit')) as [number | null];
  throw new Error(`link.py ended with ${code}`);
}

async function endLinks(links: ChildProcess): Promise<void> {
  if (links.exitCode !== null) return;
  const ended = once(links, 'exit');
  links.stdin?.end();
  await ended;
}
