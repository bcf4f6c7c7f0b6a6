/** The files in deploy/ and compose.yaml, as far as they can be read without the programs that they are for. */
import { existsSync, readdirSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { variables } from '../../src/config-variables.ts';
import { read, root } from '../docs/markdown.ts';

const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.\w+$/.test(name) || name === 'Caddyfile')
  .map((name) => `deploy/${name}`);
const units = files.filter((file) => file.startsWith('deploy/systemd/'));
const known = new Set(variables.map(({ name }) => name));

it('set only variables that the service knows', () => {
  const set = ['compose.yaml', ...files].flatMap((file) =>
    [
      ...read(file).matchAll(
        /^(?: {6}|.*name: |Environment=|.* )([A-Z][A-Z]+(?:_[A-Z]+)*)(?:: |, value: |=)/gm,
      ),
    ].map(([, name = '']) => name),
  );
  const foreign = /^(NODE_ENV|POSTGRES_\w+|UPSTREAM|PASSWORD|COMPOSE_FILE)$/;
  expect(set).toEqual(expect.arrayContaining(['ADMIN_HOST', 'DATA_DIR', 'HOST', 'POSTGRES_DB']));
  expect(set.filter((name) => !known.has(name) && !foreign.test(name))).toEqual([]);
});

it('give the process the open files, the memory and the time to stop that the docs ask for', () => {
  expect(read('docs/going-live.md')).toContain('at least 20,000 open files');
  expect(read('compose.yaml')).toMatch(/nofile: 20000\n/);
  expect(read('compose.yaml')).toMatch(/stop_grace_period: 30s\n/);
  expect(read('compose.yaml')).toMatch(/mem_limit: 1g\n/);
  expect(read('deploy/kubernetes.yaml').match(/limits: \{ memory: 1Gi \}/g)).toHaveLength(2);
  expect(read('docs/deploying.md')).toContain('may use 1 GB of memory');
  expect(read('deploy/systemd/card-checkout.service')).toMatch(/^LimitNOFILE=20000$/m);
  expect(read('deploy/systemd/card-checkout.service')).toMatch(/^TimeoutStopSec=30$/m);
  expect(read('deploy/kubernetes.yaml').match(/terminationGracePeriodSeconds: 30\n/g)).toHaveLength(2);
});

it('publish the admin port on loopback only', () => {
  const published = ['compose.yaml', 'deploy/compose.postgres.yaml', 'deploy/compose.caddy.yaml'].flatMap(
    (file) => [...read(file).matchAll(/^ +- "([\d.:]*\d+:\d+)(?:\/\w+)?"$/gm)].map(([, port]) => port),
  );
  expect(published.sort()).toEqual([
    '127.0.0.1:3000:3000',
    '127.0.0.1:3001:3001',
    '443:443',
    '443:443',
    '80:80',
  ]);
});

it('compose keeps the address of Caddy free, which TRUST_PROXY names', () => {
  const text = read('deploy/compose.caddy.yaml');
  const [, address = ''] = /ipv4_address: ([\d.]+)/.exec(text) ?? [];
  const [, start = '', bits = ''] = /ip_range: ([\d.]+)\/(\d+)/.exec(text) ?? [];
  const others = new BlockList();
  others.addSubnet(start, Number(bits));
  expect(others.check(address)).toBe(false);
  const [, ownNetwork = ''] = /subnet: (\S+)/.exec(read('compose.yaml')) ?? [];
  expect(text).toContain(`TRUST_PROXY=${address},${ownNetwork} `);
  expect(read('docs/deploying.md')).toContain(`${address},${ownNetwork}`);
});

describe('the units of systemd', () => {
  it('let the service read the addresses of its machine, without which no webhook is sent', () => {
    expect(read('deploy/systemd/card-checkout.service')).toMatch(/^RestrictAddressFamilies=.* AF_NETLINK$/m);
  });

  it.each(units.filter((unit) => unit.endsWith('.timer')))('%s starts a service that is there', (timer) => {
    expect(existsSync(join(root, timer.replace(/timer$/, 'service')))).toBe(true);
  });

  it.each(units.filter((unit) => unit.endsWith('.service')))(
    '%s is sandboxed and runs what is there',
    (unit) => {
      const text = read(unit);
      for (const option of [
        'NoNewPrivileges=yes',
        'CapabilityBoundingSet=',
        'ProtectSystem=strict',
        'PrivateDevices=yes',
        'MemoryMax=1G',
        'SystemCallFilter=@system-service',
      ])
        expect(text.split('\n')).toContain(option);
      const commands = [...text.matchAll(/bin\/card-checkout\.js (\w[\w-]*)/g)].map(([, command]) => command);
      expect(commands).toHaveLength(1);
      expect(read('docs/command-line.md')).toContain(`\`${commands[0]}`);
    },
  );
});

it('proxies refuse both APIs over plain HTTP, pass the client address on and do not hold events back', () => {
  const refusals = {
    'deploy/nginx.conf': /location \/api\/ \{ return 403; \}\s+location \/merchant\/ \{ return 403; \}/,
    'deploy/haproxy.cfg': /deny_status 403 if !\{ ssl_fc \} \{ path_beg \/api\/ \/merchant\/ \}/,
    'deploy/Caddyfile': /@api path \/api\/\* \/merchant\/\*\s+handle @api \{\s+respond .* 403/,
  };
  for (const [file, refusal] of Object.entries(refusals)) {
    const text = read(file);
    expect(text, file).toMatch(refusal);
    expect(text, file).toContain('308');
  }
  expect(read('deploy/nginx.conf')).toMatch(/proxy_buffering off;[\s\S]*proxy_read_timeout 120s;/);
});

it('docs list every host that the service calls by a name of its own', () => {
  const [, table = ''] = read('docs/deploying.md').split('## Outbound connections\n');
  const callers = ['src/rates', 'src/webhooks', 'src/domain/notification.ts'].flatMap((place) =>
    place.endsWith('.ts')
      ? [place]
      : readdirSync(join(root, place))
          .filter((name) => !name.endsWith('.test.ts'))
          .map((name) => `${place}/${name}`),
  );
  const calls = callers.flatMap((file) => [
    ...read(file).matchAll(/['`^]https:(?:\\?\/){2}([a-z.]+\.[a-z]+)\b/g),
  ]);
  const hosts = new Set(calls.map(([, host = '']) => host));
  expect(hosts.size).toBeGreaterThan(2);
  for (const host of hosts) expect(table, host).toContain(`\`${host}\``);
});

describe('what is brought in by name is pinned', () => {
  const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);

  it.each(workflows)('%s uses each action at the commit of a release, and names the release', (file) => {
    const uses = [...read(file).matchAll(/^ +(?:- )?uses: (.+)$/gm)].map(([, action = '']) => action);
    expect(uses).not.toEqual([]);
    expect(read(file).match(/\buses:/g)).toHaveLength(uses.length);
    for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('the workflows use one commit of each action', () => {
    const uses = workflows.flatMap((file) => [...read(file).matchAll(/uses: ([^@]+)@(.+)$/gm)]);
    const commits = new Map(uses.map(([, action, commit]) => [action, commit]));
    expect(uses.filter(([, action, commit]) => commits.get(action) !== commit)).toEqual([]);
  });

  it('the image is built on one base, named by its digest', () => {
    const file = read('Dockerfile');
    expect(file).toMatch(/^ARG BASE=node:24-bookworm-slim@sha256:[0-9a-f]{64}$/m);
    const bases = [...file.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual(['${BASE}', '${BASE}']);
  });
});
