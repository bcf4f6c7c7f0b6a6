import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A registry that answers the question for advisories so. */
async function startRegistry(status: number, advisories: unknown): Promise<string> {
  const server = createServer((request, response) => {
    const isQuestion = request.url?.endsWith('/advisories/bulk') === true;
    response
      .writeHead(isQuestion ? status : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(isQuestion ? advisories : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function audit(registry: string): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, 'audit.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, registry], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

const advisory = (severity: string) => ({
  fastify: [
    {
      // npm keeps what it knows of an id.
      id: severity.length,
      url: 'https://advisories.example/1',
      title: 'Everybody gets in',
      severity,
      vulnerable_versions: '<99',
      cwe: [],
      cvss: { score: 9, vectorString: null },
    },
  ],
});

it('fails on an advisory of high severity for a production dependency, and names it', async () => {
  const { code, output } = await audit(await startRegistry(200, advisory('high')));
  expect(output).toContain('fastify (high): Everybody gets in https://advisories.example/1');
  expect(code).toBe(1);
});

it('leaves an advisory of moderate severity to people', async () => {
  const { code, output } = await audit(await startRegistry(200, advisory('moderate')));
  expect(output).toContain('no known weakness');
  expect(code).toBe(0);
});

it('says that nothing was checked where the registry does not answer or refuses, and does not fail', async () => {
  for (const registry of ['http://127.0.0.1:9/', await startRegistry(405, { message: 'Not Allowed' })]) {
    const { code, output } = await audit(registry);
    expect(output).toMatch(/^not checked: ./);
    expect(code).toBe(0);
  }
});
