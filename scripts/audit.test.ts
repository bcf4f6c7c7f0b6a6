import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readAudit } from './audit-report.ts';

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
      id: 1,
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

it('says that nothing was checked where the registry does not answer, and does not fail', async () => {
  const { code, output } = await audit('http://127.0.0.1:9/');
  expect(output).toMatch(/^not checked: ./);
  expect(code).toBe(0);
});

const report = (severity: string) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: {
      inner: { severity, via: [{ title: 'Bad', url: 'https://x.example' }] },
      outer: { severity, via: ['inner'] },
    },
  });

it('counts high and critical, also through another dependency, and nothing below', () => {
  for (const severity of ['high', 'critical']) {
    expect(readAudit(report(severity))).toEqual({
      kind: 'vulnerable',
      packages: [`inner (${severity}): Bad https://x.example`, `outer (${severity}): by inner`],
    });
  }
  for (const severity of ['info', 'low', 'moderate']) {
    expect(readAudit(report(severity))).toEqual({ kind: 'fine' });
  }
});

it('takes no refusal and no garbage for a clean bill', () => {
  for (const output of [
    '',
    'null',
    '[]',
    '{}',
    '<html>',
    JSON.stringify({ message: '405 Method Not Allowed' }),
  ]) {
    expect(readAudit(output).kind).toBe('unknown');
  }
});
