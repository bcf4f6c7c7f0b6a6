import { expect, it } from 'vitest';
import { hostOfCallback } from './send-webhook.ts';
import { signWebhook, webhookHeaders } from './webhook-signatures.ts';

it('signs a body as HMAC-SHA256 in hexadecimal, of its UTF-8 bytes', () => {
  // printf '{"note":"ü"}' | openssl dgst -sha256 -hmac 'secret of the payment'
  expect(signWebhook('{"note":"ü"}', 'secret of the payment')).toBe(
    '8bb43c7e3d30505b4d506605699ef113d10ac0d2dc31d515cfe15125a534a601',
  );
});

it.each([
  ['shop.example.com', 443, 'shop.example.com'],
  ['shop.example.com', 8443, 'shop.example.com:8443'],
  ['2606:4700::1', 443, '[2606:4700::1]'],
  ['2606:4700::1', 8443, '[2606:4700::1]:8443'],
])('sends to %s, port %i, with the host %s and a signature', (hostname, port, host) => {
  expect(webhookHeaders({ hostname, port }, 1_234, 'abc')).toEqual({
    Host: host,
    'User-Agent': 'card-checkout-webhook/1',
    'Content-Type': 'application/json',
    'Content-Length': '1234',
    'X-Service-Signature': 'abc',
    Connection: 'close',
  });
});

it('sends no signature with a test of an endpoint, which is no event', () => {
  expect(webhookHeaders({ hostname: 'shop.example.com', port: 443 }, 2, null)).not.toHaveProperty(
    'X-Service-Signature',
  );
});

it.each([
  ['https://Shop.Example.COM.:8443/hook', 'shop.example.com'],
  ['https://shop.example.com', 'shop.example.com'],
  ['https://shop.example.com/a./b', 'shop.example.com'],
  ['no URL', ''],
])('counts deliveries to %s as deliveries to the host %j', (url, host) => {
  expect(hostOfCallback(url)).toBe(host);
});
