import { encodeFunctionData, erc20Abi } from 'viem';
import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { languages } from '../../src/web/checkout-layout/languages.ts';
import { createCheckoutPages, pagePayment, pageView, USDC } from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

const pages = createCheckoutPages();

async function open(change: Partial<Payment> = {}, depositedUnits = 0n) {
  const payment = pagePayment({ provider: 'direct', paidThresholdUnits: 25_000_000n, ...change });
  const deposit = {
    units: depositedUnits,
    blockNumber: 5,
    logIndex: 0,
    transactionHash: `0x${'d'.repeat(64)}`,
  };
  const view = pageView(payment);
  const deposits = depositedUnits === 0n ? [] : [deposit];
  pages.put({ ...view, observations: { ...view.observations, deposits } });
  const response = await pages.server.inject({ url: `/pay/${payment.id}` });
  expect(response.statusCode).toBe(200);
  return { payment, markup: response.body, text: textOf(response.body) };
}

it('names amount, network, address and token, and opens a wallet with all of them', async () => {
  const { payment, markup, text } = await open();
  for (const part of ['Send 25 USDC', 'Polygon', payment.depositAddress, USDC, 'Send only USDC'])
    expect(text).toContain(part);
  const uri = `ethereum:${USDC}@137/transfer?address=${payment.depositAddress}&uint256=25000000`;
  expect(markup.replaceAll('&#61;', '=').replaceAll(/&amp;|&#38;/g, '&')).toContain(`href="${uri}"`);
  expect(markup).toContain('class="qr" role="img"');
  expect(text).not.toContain('MoonPay');
});

it('gives a wallet of the browser the transfer of exactly the missing amount to the address of the payment', async () => {
  const { payment, markup } = await open({}, 10_000_000n);
  const call = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [payment.depositAddress.toLowerCase() as `0x${string}`, 15_000_000n],
  });
  expect(markup).toContain(`data-chain="0x89" data-token="${USDC}" data-call="${call}"`);
  expect(markup).toContain('data-copy="15"');
  expect(markup).toContain(`data-copy="${payment.depositAddress}"`);
});

it('asks for what is missing after a part has arrived, and for nothing once enough was sent', async () => {
  const { text } = await open({}, 10_000_000n);
  expect(text).toContain('Send 15 USDC');
  expect(text).toContain('10 USDC arrived. This is the missing amount.');
  // Also where it is so little that a visit at a provider would still be offered.
  expect((await open({}, 10_000n)).text).toContain('Send 24.99 USDC');
  // A stranger's dust is no part.
  expect((await open({}, 1n)).text).toContain('Send 25 USDC');
  expect((await open({}, 25_000_000n)).text).not.toContain('Send ');
  const paid = { status: 'paid', forwardStatus: 'ready', paidAtMs: Date.UTC(2026, 10, 21) } as const;
  expect((await open(paid, 25_000_000n)).text).not.toContain('Send ');
});

it('shows neither the note nor the callback, and takes a hostile shop name for text', async () => {
  const { markup } = await open({ note: 'canary <b>', callbackUrl: 'https://canary.example/hook' });
  expect(markup).not.toContain('canary');
});

it.each(languages.map(({ code }) => code))('is in the language of whoever asks: %s', async (code) => {
  const { payment } = await open();
  const get = (path: string) => pages.server.inject({ url: `/pay/${payment.id}${path}?lang=${code}` });
  const { body } = await get('');
  const { direct } = (languages.find((language) => language.code === code) as (typeof languages)[number])
    .words;
  const text = textOf(body);
  for (const words of [direct.waiting, direct.whole, direct.once, direct.open, direct.network])
    expect(text).toContain(words);
  expect(body).toContain(`<html lang="${code}"`);
  // The script is told of changes; without it the page loads itself again.
  expect(body).toContain('<noscript><meta http-equiv="refresh"');
  expect(body.replaceAll(/<noscript>.*?<\/noscript>/g, '')).not.toContain('http-equiv');
  const status = (await get('/status')).json();
  expect(textOf(status.status)).toContain(direct.waiting);
  expect(status.detail).toContain(payment.depositAddress);
});
