import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { openLiveInstances } from '../support/live-instances.ts';
import { createShop } from '../support/service-process.ts';
import { attributeOf, pathOf, startTraceCollector } from '../support/trace-collector.ts';
import { waitFor } from '../support/wait-for.ts';

/** Prints which modules of OpenTelemetry are loaded, and has none where `IS_MISSING` is set. */
const watchModules = `import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (process.env.IS_MISSING && name === '@opentelemetry/sdk-trace')
    throw Object.assign(new Error('none'), { code: 'ERR_MODULE_NOT_FOUND' });
  const found = next(name, context);
  const [, loaded] = /@opentelemetry.(?!api)([^/]+)/.exec(found.url) ?? [];
  if (loaded) process.stderr.write('loaded ' + loaded + '\\n');
  return found;
} });`;

/** Passes requests on to another server, and keeps their headers. */
async function startForwarder(targetOf: (path: string) => string) {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((incoming, outgoing) => {
    seen.push(incoming.headers);
    const { method, headers, url = '' } = incoming;
    const passed = request(targetOf(url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  return { url: await listenOnLoopback(server), seen };
}

it('traces lead from the request to provider, chain and webhook, without a secret, and only if a collector is set', async () => {
  const collector = await startTraceCollector();
  onTestFinished(() => collector.stop());
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(watchModules)}`];
  const live = await openLiveInstances({ hasPostgres: false, nodeArgs });
  onTestFinished(() => live.stop());
  const untraced = await live.start('all');
  expect(untraced.process.output()).not.toContain('loaded ');
  await untraced.process.end('SIGTERM');
  const OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  await expect(live.start('all', { OTEL_EXPORTER_OTLP_ENDPOINT, IS_MISSING: '1' })).rejects.toThrow(
    /OTEL_EXPORTER_OTLP_ENDPOINT needs packages that are missing \(docs\S+\): npm install .*@opentelemetry\/sdk-trace@\d/,
  );

  const { MOONPAY_BASE_URL } = untraced.environment;
  const provider = await startForwarder((path) => `${MOONPAY_BASE_URL}${path}`);
  const keyOfNode = 'key-of-the-node-in-its-path';
  const node = await startForwarder(() => live.world.rpcUrl);
  const service = await live.start('all', {
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=of-the-operator',
    MOONPAY_BASE_URL: provider.url,
    POLYGON_RPC_URL: `${node.url.replace('//', '//user:password-of-the-node@')}/${keyOfNode}?token=token-of-the-node`,
    TRUST_PROXY: '127.0.0.1',
  });
  expect(service.process.output()).toContain('loaded sdk-trace');
  const { apiKey } = await createShop(service.environment);
  const [traceId, proxySpan] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const fields = { address: live.world.merchantWallet, amount: '80', provider: 'moonpay' };
  const secret = { email: 'ada@secret-shop.example', note: 'note-of-the-order' };
  const callback = `${live.receiver.url}/path-of-the-shop?order=query-of-the-shop`;
  const created = await fetch(`${service.url}/api/v1/wallet`, {
    method: 'POST',
    headers: { ...headers, traceparent: `00-${traceId}-${proxySpan}-01` },
    body: JSON.stringify({ ...fields, ...secret, callback }),
  });
  const { payment_id: paymentId, ipn_token: ipnToken } = (await created.json()) as Record<string, string>;
  await fetch(`${service.url}/api/v1/payment-status?ipn_token=${ipnToken}`, { headers });
  const click = await fetch(`${service.url}/pay/${paymentId}/providers/moonpay?email=${secret.email}`, {
    method: 'POST',
    redirect: 'manual',
  });
  await live.world.pay({ order: click.headers.get('location') as string });
  await waitFor('the webhook', 60_000, () => live.receiver.received.length > 0);
  expect(await service.process.end('SIGTERM')).toBe(0);

  const spans = collector.spans();
  const paths = new Set(spans.map((span) => pathOf(span, spans).join(' > ')));
  expect([...paths]).toEqual(
    expect.arrayContaining([
      'POST /api/v1/wallet > store.payments.createPayment',
      'POST /pay/:paymentId/providers/:provider > provider moonpay',
      'POST /pay/:paymentId/providers/:provider > store.payments.addSession',
      'task watch > eth_getLogs',
      'task watch > store.observations.recordScan',
      'task relay > eth_sendRawTransaction',
      'webhook payment.paid > store.webhooks.recordWebhookResult',
    ]),
  );
  const request = spans.find(({ name }) => name === 'POST /api/v1/wallet');
  expect(request).toMatchObject({ traceId, parentSpanId: proxySpan });
  for (const name of ['POST /api/v1/wallet', 'webhook payment.paid'])
    expect(
      attributeOf(
        spans.find((each) => each.name === name),
        'card_checkout.payment_id',
      ),
    ).toBe(paymentId);
  const toProvider = provider.seen.map(({ traceparent }) => String(traceparent).split('-')[2]);
  expect(spans.filter(({ spanId }) => toProvider.includes(spanId)).map(({ name }) => name)).toContain(
    'provider moonpay',
  );
  const others = [...node.seen, ...live.receiver.received.map((each) => each.headers)];
  expect(others.filter(({ traceparent }) => traceparent !== undefined)).toEqual([]);

  const text = collector.text();
  expect(text).toContain('"x-tenant":"of-the-operator"');
  const { RELAYER_PRIVATE_KEY, SECRET_KEY, MOONPAY_SECRET_KEY, MOONPAY_API_KEY } = service.environment;
  const secrets = [
    apiKey,
    ipnToken,
    ...Object.values(secret),
    'secret-shop',
    keyOfNode,
    'of-the-node',
    'of-the-shop',
  ];
  for (const each of [...secrets, RELAYER_PRIVATE_KEY, SECRET_KEY, MOONPAY_SECRET_KEY, MOONPAY_API_KEY])
    expect(text, `${each} is exported`).not.toContain(each);
});
