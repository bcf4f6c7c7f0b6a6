/** The files in deploy/, the compose files and the workflows, as far as they can be read without their programs. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { variables } from '../../src/config/variables.ts';
import { read, root } from '../docs/markdown.ts';

const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' })
  .filter((name) => (/\.\w+$/.test(name) && !name.endsWith('.sh')) || name === 'Caddyfile')
  .map((name) => `deploy/${name}`);

it('set only variables that the service knows', () => {
  const known = new Set(variables.map(({ name }) => name));
  const assignment = /^(?: {6}|.*name: |Environment=|.* )([A-Z][A-Z]+(?:_[A-Z]+)*)(?:: |, value: |=)/gm;
  const set = ['compose.yaml', ...files].flatMap((file) =>
    [...read(file).matchAll(assignment)].map(([, name = '']) => name),
  );
  const ofScript = [...read('deploy/server.sh').matchAll(/setting ([A-Z_]+)/g)].map(([, name = '']) => name);
  expect(ofScript).toContain('DATABASE_URL');
  set.push(...ofScript);
  const foreign = /^(NODE_ENV|NODE_EXTRA_CA_CERTS|POSTGRES_\w+|UPSTREAM|PASSWORD|COMPOSE_FILE)$/;
  expect(set).toEqual(expect.arrayContaining(['ADMIN_HOST', 'DATA_DIR', 'HOST', 'POSTGRES_DB']));
  expect(set.filter((name) => !known.has(name) && !foreign.test(name))).toEqual([]);
});

it('publish the admin port on loopback only', () => {
  const published = ['compose.yaml', 'deploy/compose.postgres.yaml', 'deploy/compose.caddy.yaml'].flatMap(
    (file) => [...read(file).matchAll(/^ +- "([\d.:]*\d+:\d+)(?:\/\w+)?"$/gm)].map(([, port]) => port),
  );
  expect([...new Set(published)].sort()).toEqual([
    '127.0.0.1:3000:3000',
    '127.0.0.1:3001:3001',
    '443:443',
    '80:80',
  ]);
});

it('change nothing in the folder of the service as root, which would follow its links', () => {
  const lines = read('deploy/server.sh').split('\n');
  expect(lines.filter((line) => /^ *(?:install|find|mv|cp|mkdir|chown|ln) .*"\$data\//.test(line))).toEqual(
    [],
  );
});

it('keep the password of the database out of the arguments of programs, which every user of the machine sees', () => {
  const script = read('deploy/server.sh');
  const [, hide = ''] = /^hide_password='(.+)'$/m.exec(script) ?? [];
  const shown = (url: string) =>
    execFileSync('sh', ['-c', `${hide}; printf %s "$DATABASE_URL $PGPASSWORD"`], {
      encoding: 'utf8',
      env: { DATABASE_URL: url, PGPASSWORD: '' },
    });
  expect(shown('postgres://checkout:secret@127.0.0.1:5432/checkout')).toBe(
    'postgres://checkout@127.0.0.1:5432/checkout secret',
  );
  for (const url of ['postgres://checkout@/checkout?host=/run', 'postgres://u:p%40q@db/checkout'])
    expect(shown(url)).toBe(`${url} `);
  const programs = script.split('\n').filter((line) => /pg_(?:dump|restore) .*DATABASE_URL/.test(line));
  expect(programs.map((line) => line.includes('$hide_password'))).toEqual([true]);
});

it('say which step of how many begins, and how long it took', () => {
  const script = read('deploy/server.sh');
  const [, functions = ''] = /(steps=0 step=0[\s\S]*?\nfinish_step\(\).*\n)/.exec(script) ?? [];
  const run = `say() { echo "$*"; }; ${functions} steps=2; start_step one; SECONDS=5; start_step two; finish_step`;
  expect(execFileSync('bash', ['-ec', run], { encoding: 'utf8' }).split('\n')).toEqual([
    'Step 1 of 2: one …',
    '  took 5 s',
    'Step 2 of 2: two …',
    '  took 0 s',
    '',
  ]);
  const stepsIn = (from: string, to: string) =>
    script.slice(script.indexOf(`# ---- ${from} ----`), script.indexOf(to)).match(/^ +start_step /gm)?.length;
  expect(script.match(/steps=.+/g)).toEqual([
    'steps=0 step=0 began=0',
    'steps=$([ -z "$caddy" ] && echo 7 || echo 8)',
    'steps=5',
    'steps=4',
  ]);
  expect(stepsIn('install', '# ---- update')).toBe(8);
  expect(stepsIn('update', '# ---- restore')).toBe(5);
  expect(stepsIn('restore', 'flock')).toBe(4);
});

it('let the service of systemd read the addresses of its machine, without which no webhook is sent', () => {
  expect(read('deploy/systemd/card-checkout.service')).toMatch(/^RestrictAddressFamilies=.* AF_NETLINK$/m);
});

it('pin each action of a workflow to one commit of a release, and the base of the image to its digest', () => {
  const workflows = readdirSync(join(root, '.github/workflows')).map((name) => `.github/workflows/${name}`);
  const uses = workflows.flatMap((file) =>
    [...read(file).matchAll(/\buses: (.+)$/gm)].map(([, action = '']) => action),
  );
  expect(uses.length).toBeGreaterThan(workflows.length);
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(new Set(uses).size).toBe(new Set(uses.map((action) => action.split('@')[0])).size);
  expect(read('Dockerfile')).toMatch(/^ARG BASE=node:24-bookworm-slim@sha256:[0-9a-f]{64}$/m);
});
