import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageDescription from '#package' with { type: 'json' };
import { testCards } from '../../sandbox/pay-order.ts';
import { createdPaymentSchema, paymentStatusSchema } from '../../src/api/payment-schemas.ts';
import { createMetrics } from '../../src/app/metrics.ts';
import { variables } from '../../src/config/variables.ts';
import { refundEventTypes } from '../../src/features/refunds/refund.ts';
import { paymentEventTypes } from '../../src/payment/payment-events.ts';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import { providerFaults } from '../../src/payment/test-payments.ts';
import { journalAccounts } from '../../src/reports/journal-and-statement.ts';
import { deliveryReasons } from '../../src/webhooks/delivery-reasons.ts';
import { deliveryOutcomes } from '../../src/webhooks/delivery-types.ts';
import { codeBlocks, documents, read, root, sorted, tableRows } from './markdown.ts';

it('lists every type of event with its description', () => {
  const page = read('docs/merchant-api.md');
  const rows = tableRows(page).filter(([name]) => /^`(payment|refund)\./.test(name ?? ''));
  const types = { ...paymentEventTypes, ...refundEventTypes };
  expect(rows).toEqual(Object.entries(types).map(([type, text]) => [`\`${type}\``, text]));
});

it('shows JSON with the fields that the API answers with, no more and no fewer', () => {
  const [created = '', , status = ''] = codeBlocks(read('docs/api.md'), 'json');
  expect(Object.keys(JSON.parse(created))).toEqual(Object.keys(createdPaymentSchema.properties));
  expect(Object.keys(JSON.parse(status))).toEqual(Object.keys(paymentStatusSchema.properties));
});

it('lists every account of the journal', () => {
  const rows = tableRows(read('docs/merchant-api.md')).map(([name]) => name?.replaceAll('`', ''));
  expect(rows).toEqual(expect.arrayContaining(Object.keys(journalAccounts)));
});

describe('environment variables', () => {
  const known = variables.map(({ name }) => name);
  const knownWithFiles = new Set([
    ...known,
    ...variables.filter(({ isSecret }) => isSecret).map(({ name }) => `${name}_FILE`),
  ]);
  /** Node's and OpenTelemetry's own, the sandbox's tool, and those of examples. */
  const isForeign = (name: string) =>
    /^(NODE_\w+|AWS_\w+|PYTHONPATH|ANVIL_PATH|CHROMIUM_PATH|SCREENSHOTS|WORDPRESS_DIR|WOOCOMMERCE_DIR|IPN_TOKEN|PAYMENT_ID|PWD|PATH|BASE|KEY|COMPOSE_FILE)$/.test(
      name,
    ) ||
    /^OTEL_(SERVICE_NAME|RESOURCE_ATTRIBUTES|TRACES_SAMPLER|EXPORTER_OTLP_(HEADERS|TIMEOUT))$/.test(name) ||
    /^(CARD_CHECKOUT_(URL|KEY|API_KEY)|CIRCLE_TOKEN_(LOGIC|PROXY)|CALLBACK_URL|PAYOUT_ADDRESS|ORDERS_FILE|PHP_CLI_SERVER_WORKERS|ETH_RPC_URL|PRIVATE_KEY|IFS|LC_ALL)$/.test(
      name,
    );

  it('all have a line in .env.example, and no other has', () => {
    const names = [...read('.env.example').matchAll(/^#?([A-Z][A-Z_\d]*)=/gm)].map(([, name]) => name ?? '');
    expect(sorted(names)).toEqual(sorted(known));
  });

  it('are spelt right wherever a document sets or names one', () => {
    const named = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`|\b([A-Z][A-Z0-9_]{2,})=\S/g)].map(
        ([, quoted, set]) => `${path} ${quoted ?? set}`,
      ),
    );
    expect(named.length).toBeGreaterThan(50);
    const unknown = named.filter((entry) => {
      const name = entry.split(' ')[1] ?? '';
      return !knownWithFiles.has(name) && !isForeign(name);
    });
    expect(unknown).toEqual([]);
  });
});

describe('other lists', () => {
  it('name every metric of ours and no other', async () => {
    const known = (await createMetrics().registry.getMetricsAsJSON())
      .map(({ name }) => name)
      .filter((name) => name.startsWith('card_checkout_'));
    const documented = [
      ...(read('docs/operating.md').split('## Alerts')[0] ?? '').matchAll(/`(card_checkout_\w+)`/g),
    ].map(([, name]) => name ?? '');
    expect(sorted(documented)).toEqual(sorted(known));
  });

  it('name every reason and status of a webhook and no other', () => {
    const reasons = Object.keys(deliveryReasons);
    const part = read('docs/webhooks.md').split('### Reasons')[1] ?? '';
    const documented = tableRows(part).flatMap(([cell]) =>
      [...(cell ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''),
    );
    expect(reasons.length).toBeGreaterThan(15);
    expect(sorted(documented.filter((reason) => !/^http_\d/.test(reason)))).toEqual(sorted(reasons));
    const [, type = ''] = /type WebhookStatus = ([^;]+);/.exec(read('src/webhooks/send-webhook.ts')) ?? [];
    const statuses = [...(type.match(/(?<=')\w+(?=' \|)/g) ?? []), ...deliveryOutcomes];
    const delivery = read('docs/webhooks.md').split('## Delivery')[1]?.split('### Reasons')[0] ?? '';
    const rows = tableRows(delivery).map(([cell]) => cell?.replaceAll('`', '') ?? '');
    expect(sorted(rows.filter((row) => row !== 'status'))).toEqual(sorted(statuses));
  });

  it('name every provider and every test card', () => {
    const providers = /One of (`multi`(?:, `\w+`)+)/.exec(read('docs/api.md'))?.[1]?.match(/\w+/g);
    expect(providers).toEqual(['multi', ...providerIds]);
    const cards = tableRows(read('docs/sandbox.md')).map(([cell]) => cell?.replaceAll('`', '') ?? '');
    expect(cards.filter((cell) => /^\d{4} /.test(cell))).toEqual(testCards.map(({ number }) => number));
    const faults = cards.filter((cell) => cell.startsWith('--'));
    expect(faults).toEqual(Object.keys(providerFaults).map((name) => `--${name}`));
  });
});

it('say how each fact of a provider is known, with a source or none and the date', () => {
  const [, tables = ''] = read('docs/providers.md').split(/## (?:Provider by provider|Means of payment)\n/);
  const rows = tableRows(tables).filter(([name]) => !/^(\*\*|-)/.test(name ?? ''));
  expect(rows.length).toBeGreaterThan(70);
  for (const [name, , evidence] of rows.filter(([each]) => each !== 'the rest'))
    expect([name, evidence]).toEqual([
      name,
      expect.stringMatching(/(official|SDK|inferred|unknown|our choice).*\(2026(-\d\d){0,2}\)/),
    ]);
});

describe('the architecture', () => {
  it('names only files and folders that exist, as do the other documents', () => {
    const named = documents.flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /(?<!\.)\b((?:src|test|tools|sandbox|contracts|docs|bin|deploy(?!\/card-checkout)|sdk|sdk-python|plugins\/(?:mcp|medusa|php|vendure|woocommerce))\/[\w./-]*[\w/])/g,
        ),
      ].map(([, file]) => ({ path, file: file ?? '' })),
    );
    expect(named.filter(({ path }) => path === 'docs/architecture.md').length).toBeGreaterThan(40);
    // From the project's root, or from the document's own folder.
    const missing = named.filter(
      ({ path, file }) => !existsSync(join(root, file)) && !existsSync(join(root, dirname(path), file)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the README', () => {
  it('names only scripts that exist, as do the other documents', () => {
    // The changelog names scripts of its time.
    const current = documents.filter(({ path }) => path !== 'CHANGELOG.md');
    const named = current.flatMap(({ path, text }) =>
      [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => `${path} ${name}`),
    );
    const scripts = Object.keys(packageDescription.scripts);
    expect(named.filter((entry) => !scripts.includes(entry.split(' ')[1] ?? ''))).toEqual([]);
  });
});
