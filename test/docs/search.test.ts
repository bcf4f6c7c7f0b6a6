import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { excerptOf, type Section, search } from '../../docs-site/client/search.js';
import { registerDocs } from '../../docs-site/register-docs.ts';
import { createBaseServer } from '../../src/http/server.ts';

let server: FastifyInstance;
let sections: Section[];

beforeAll(async () => {
  server = createBaseServer({ trustProxy: [] });
  registerDocs(server, { baseUrl: 'http://localhost', isTestMode: true, limiter: { take: async () => 0 } });
  sections = (await server.inject('/docs/search.json')).json();
});
afterAll(() => server.close());

/** What people type, and the section that answers it. */
const answers = {
  '2fa': 'dashboard#second-factor',
  '429': 'limits#limits',
  'api key': 'dashboard#api-keys',
  'cancel payment': 'merchant-api#cancel-a-payment',
  chargeback: 'migrating#chargebacks',
  currency: 'dashboard#base-currency',
  docker: 'deploying#containers',
  fee: 'api#who-pays-the-fees',
  idempotency: 'api#repeat-safely',
  'Idempotency-Key': 'api#repeat-safely',
  ipn_token: 'webhooks#2-verify-the-signature',
  'missed webhooks': 'receiver-php#find-missed-webhooks',
  nginx: 'deploying#proxies',
  'payment link': 'payment-pages#payment-pages',
  php: 'receiver-php#a-receiver-in-php',
  polygon: 'faq#which-currencies-are-supported',
  postgres: 'operating#failover-of-postgresql',
  'postgres restore': 'operating#point-in-time-recovery-of-postgresql',
  python: 'sdk-python#card-checkout-for-python',
  'rate limit': 'limits#limits',
  refunds: 'merchant-api#refund-a-payment',
  'sqlite backup': 'going-live#backups',
  'test card': 'testing#testing-your-integration',
  underpaid: 'faq#what-happens-when-a-customer-pays-too-little',
  'webhook signature': 'webhooks#verify-the-signature',
} as const;

it.each(Object.entries(answers))('answers "%s" first with %s', (query, place) => {
  const [first] = search(sections, query);
  expect(`${first?.page}#${first?.anchor}`).toBe(place);
});

it.each(Object.keys(answers))('shows parts of sentences for "%s", without markup and not long', (query) => {
  for (const section of search(sections, query).slice(0, 8)) {
    const pieces = excerptOf(section, query);
    const text = pieces.join('');
    expect(text).not.toMatch(/`|\*\*|\]\(|\|\s*-|^\s|\s$|\s\s|<!--/);
    expect(text.length).toBeLessThan(150);
  }
});

it('marks the words of a query in the text, in the singular and the plural, and not within other words', () => {
  const section = { text: 'Refunds are yours. A refund, not a prerefund.' } as Section;
  expect(excerptOf(section, 'refunds')).toEqual([
    '',
    'Refunds',
    ' are yours. A ',
    'refund',
    ', not a prerefund.',
  ]);
});

it('finds nothing for a word that is nowhere, and something where one word of several is', () => {
  expect(search(sections, 'zzz')).toEqual([]);
  expect(search(sections, '?')).toEqual([]);
  expect(search(sections, 'zzz chargeback')[0]?.page).toBe('migrating');
});
