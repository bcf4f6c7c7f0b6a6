import { describe, expect, it } from 'vitest';
import type { Payment } from '../../payment/payment.ts';
import { automaticProvider, isPreview } from './provider-session.ts';

const single = { provider: 'wert', email: 'a@example.com' } as Payment;
const browser = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0',
  'sec-fetch-dest': 'document',
};

describe('auto=1', () => {
  it('leads to the single provider of a payment with a stored email', () => {
    expect(automaticProvider(single, { auto: '1' }, browser)).toBe('wert');
    expect(automaticProvider(single, { auto: '1' }, {})).toBe('wert');
  });

  it.each([
    ['without auto', single, {}],
    ['with another value', single, { auto: 'true' }],
    ['given twice', single, { auto: ['1', '1'] }],
    ['on the way back', single, { auto: '1', returned: '1' }],
    ['for multi', { ...single, provider: 'multi' }, { auto: '1' }],
    [
      'without a stored email, whatever the query says',
      { ...single, email: null },
      { auto: '1', email: 'b@c.de' },
    ],
  ] as [string, Payment, Record<string, unknown>][])('shows the page %s', (_case, payment, query) => {
    expect(automaticProvider(payment, query, browser)).toBeNull();
  });

  it('shows the page to what only looks at the link', () => {
    expect(automaticProvider(single, { auto: '1' }, { ...browser, 'sec-purpose': 'prefetch' })).toBeNull();
  });
});

describe('a preview', () => {
  it.each([
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { 'x-moz': 'prefetch' },
    { 'x-purpose': 'preview' },
    { 'sec-fetch-dest': 'image' },
    { 'sec-fetch-dest': 'embed' },
    { 'user-agent': 'facebookexternalhit/1.1' },
    { 'user-agent': 'Twitterbot/1.0' },
    { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
    { 'user-agent': 'WhatsApp/2.23.20.0' },
    { 'user-agent': 'TelegramBot (like TwitterBot)' },
    { 'user-agent': 'Mozilla/5.0 (compatible; Discordbot/2.0)' },
    { 'user-agent': 'LinkedInBot/1.0' },
    { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' },
    { 'user-agent': 'SkypeUriPreview Preview/0.5' },
    { 'user-agent': 'Iframely/1.3.1 (+https://iframely.com/docs/about)' },
    { 'user-agent': 'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)' },
    { 'user-agent': 'Mediapartners-Google' },
  ])('is told by %j', (headers) => {
    expect(isPreview(headers)).toBe(true);
  });

  it.each([
    {},
    browser,
    { 'user-agent': 'curl/8.5.0' },
    { 'user-agent': 'python-requests/2.32.3' },
    { 'user-agent': 'undici' },
    { 'user-agent': 'Mozilla/5.0 (Linux; Android 13; CUBOT P60) Chrome/120.0 Mobile' },
    { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 Safari/604.1' },
    {
      'user-agent':
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Mobile/15E148 [FBAN/FBIOS;FBAV/470.0]',
    },
    {
      'user-agent':
        'Mozilla/5.0 (Linux; Android 14; wv) Chrome/126.0 Mobile Safari/537.36 Instagram 337.0.0.35.102',
    },
    { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Mobile/15E148 LinkedInApp' },
  ])('is not a customer with %j', (headers) => {
    expect(isPreview(headers)).toBe(false);
  });
});
