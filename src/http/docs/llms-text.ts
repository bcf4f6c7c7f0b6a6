import type { DocPage } from './doc-pages.ts';

/** `/llms.txt`, in the form of llmstxt.org: what there is to read, as Markdown. */
export function createLlmsText(baseUrl: string, pages: readonly DocPage[]): Buffer {
  const line = ({ slug, title, summary }: DocPage) => `- [${title}](${baseUrl}/docs/${slug}.md): ${summary}`;
  const merchants = pages.filter(({ group }) => group !== 'Operate');
  const operators = pages.filter(({ group }) => group === 'Operate');
  return Buffer.from(
    [
      '# card-checkout',
      '',
      '> Create hosted card checkouts over HTTP: the customer pays by card at an on-ramp, USDC on Polygon arrives in the',
      "> merchant's wallet, and one signed webhook says so.",
      '',
      'Send amounts as decimal strings. Send an Idempotency-Key with every create. Verify webhooks over the raw body with the',
      "payment's ipn_token, confirm with the status, fulfil once. API keys and ipn_tokens stay on the server.",
      '',
      '## Interface',
      '',
      `- [openapi.json](${baseUrl}/openapi.json): OpenAPI 3.1, every operation, answer and event`,
      '',
      '## Documentation',
      '',
      ...merchants.map(line),
      ...(operators.length === 0 ? [] : ['', '## Optional', '', ...operators.map(line)]),
      '',
    ].join('\n'),
  );
}
