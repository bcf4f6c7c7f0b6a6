import { expect, it, onTestFinished } from 'vitest';
import { openTracing, span, trace } from '../../src/platform/tracing.ts';
import { createApiService, validRequest } from '../support/api-service.ts';
import { attributeOf, startTraceCollector } from '../support/trace-collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

async function startTracing(
  answer?: (end: () => void) => void,
  warn: Parameters<typeof openTracing>[2] = () => {},
) {
  const collector = await startTraceCollector(answer);
  onTestFinished(() => collector.stop());
  const tracing = await openTracing(collector.url, { 'service.instance.id': 'test' }, warn);
  return { ...tracing, collector };
}

it('continue the trace of a proxy in TRUST_PROXY and of no other peer, through the body to the store', async () => {
  const { collector, run, stop } = await startTracing();
  const service = await run(() => createApiService({ trustProxy: ['10.0.0.0/8'] }));
  onTestFinished(() => service.close());
  const create = (header: string, remoteAddress: string) =>
    service.server.inject({
      method: 'POST',
      url: '/api/v1/wallet?token=of-the-query',
      headers: { 'x-api-key': service.apiKey, traceparent: header },
      payload: validRequest,
      remoteAddress,
    });
  await service.server.inject({ url: '/nowhere/of-the-path' });
  const forms = [traceparent, traceparent, 'no trace', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`];
  for (const [index, header] of forms.entries())
    expect((await create(header, index === 1 ? '192.0.2.1' : '10.1.2.3')).statusCode).toBe(200);
  // Until it is answered, the spans before it have ended.
  await service.server.inject({ url: '/health/live' });
  await stop();

  const spans = collector.spans();
  const requests = spans.filter(({ name }) => name === 'POST /api/v1/wallet');
  expect(requests.map(({ traceId }) => traceId === TRACE)).toEqual([true, false, false, false]);
  expect(requests.map((each) => attributeOf(each, 'http.response.status_code'))).toEqual([
    200, 200, 200, 200,
  ]);
  expect(spans.map(({ name }) => name)).toEqual(['GET unmatched', ...requests.map(({ name }) => name)]);
  expect(collector.text()).not.toMatch(/of-the-(query|path)|service_live_/);
});

it('hold at most 500 spans, of background steps only those that call another host, and no message of an error', async () => {
  const { collector, run, stop } = await startTracing();
  const toHost = { 'server.address': 'node.example' };
  await run(async () => {
    await trace('request', {}, async () => {
      for (let index = 0; index < 700; index++) await span('read', {}, async () => {});
    });
    await trace('idle step', { isIdle: true }, () => span('read', {}, async () => {}));
    const fail = () => Promise.reject(new TypeError('message-with-a-secret'));
    await expect(trace('step', { isIdle: true }, () => span('call', toHost, fail))).rejects.toThrow('secret');
  });
  await span('outside', toHost, async () => {});
  await stop();

  const names = collector.spans().map(({ name }) => name);
  expect(names.filter((name) => name === 'read')).toHaveLength(500);
  expect(names.filter((name) => name !== 'read')).toEqual(['request', 'call', 'step']);
  const call = collector.spans().find(({ name }) => name === 'call');
  expect(attributeOf(call, 'error.type')).toBe('TypeError');
  expect(collector.text()).not.toContain('secret');
});

it.each([
  ['hangs', () => {}],
  ['is down', undefined],
])(
  'wait for no collector that %s, neither at work nor at the stop, which is logged once',
  async (_, answer) => {
    const warnings: Error[] = [];
    const { collector, run, stop } = await startTracing(answer, (error) => void warnings.push(error));
    if (answer === undefined) await collector.stop();
    const startedMs = performance.now();
    for (let index = 0; index < 3_000; index++) await run(() => trace('request', {}, async () => {}));
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    await stop();
    expect(performance.now() - startedMs).toBeLessThan(6_000);
    expect(warnings).toHaveLength(1);
  },
);
