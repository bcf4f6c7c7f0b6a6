import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createIpnTokens } from '../../src/payment/ipn-token.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { signWebhook } from '../../src/webhooks/webhook.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { codeBlocks, read } from './markdown.ts';

interface Verifier {
  isGenuine(rawBody: Buffer, signature: unknown, ipnToken: string): boolean;
}

/** Loads a snippet of the documentation as the module that it is. */
async function load(snippet: string): Promise<Verifier> {
  const file = join(temporaryFolder(), 'snippet.mjs');
  writeFileSync(file, snippet);
  return (await import(pathToFileURL(file).href)) as Verifier;
}

describe('the verification in docs/webhooks.md', () => {
  const text = read('docs/webhooks.md');

  it('accepts what we sign and refuses everything else', async () => {
    const { isGenuine } = await load(codeBlocks(text, 'js')[1] ?? '');
    const ipnToken = createIpnTokens('a secret of at least 32 characters').create(
      createPaymentIdGenerator(Date.now)(),
    );
    const body = JSON.stringify({ event: 'payment.paid', note: 'Grüße 👋' });
    const signature = signWebhook(body, ipnToken);
    expect(isGenuine(Buffer.from(body), signature, ipnToken)).toBe(true);
    expect(isGenuine(Buffer.from(`${body} `), signature, ipnToken)).toBe(false);
    expect(isGenuine(Buffer.from(body), signature, `${ipnToken}x`)).toBe(false);
    for (const forged of [
      undefined,
      '',
      'zz',
      signature.slice(1),
      `${signature}00`,
      [signature, signature],
    ]) {
      expect(isGenuine(Buffer.from(body), forged, ipnToken)).toBe(false);
    }
  });
});

describe('the JSON in the documents', () => {
  it('has the fields that the API answers with, no more and no fewer', async () => {
    const { createdPaymentSchema, paymentStatusSchema } = await import('../../src/api/payment-schemas.ts');
    const [created, , status] = codeBlocks(read('docs/api.md'), 'json').map(
      (block) => JSON.parse(block) as Record<string, unknown>,
    );
    expect(Object.keys(created ?? {})).toEqual(Object.keys(createdPaymentSchema.properties));
    expect(Object.keys(status ?? {})).toEqual(Object.keys(paymentStatusSchema.properties));
  });
});
