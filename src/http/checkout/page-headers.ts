import type { FastifyReply } from 'fastify';
import { sendCompressed } from '../compression.ts';
import { newNonce } from '../design/nonce.ts';
import type { Page } from './layout.ts';

/**
 * The page's policy: the style and the script that carry this answer's nonce, and no other.
 *
 * `form-action` applies in Chrome to every redirect that follows a form, and providers send their customers on to hosts
 * that we cannot know: so any secure host is allowed there, and nothing else is. A page that itself comes over plain
 * HTTP (only ever on loopback) may also send its forms over plain HTTP.
 */
function contentSecurityPolicy(nonce: string, baseUrl: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    `form-action 'self' https:${baseUrl.startsWith('http:') ? ' http:' : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const commonHeaders = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  // Providers that check where a customer comes from get the origin; the path, which opens the checkout, stays here.
  'referrer-policy': 'strict-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Pages and events are sent piece by piece, which proxies are not to collect.
  'x-accel-buffering': 'no',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

/** Answers with a page and the headers that go with it. */
export function sendPage(
  reply: FastifyReply,
  { status, baseUrl, page }: { readonly status: number; readonly baseUrl: string; readonly page: Page },
): FastifyReply {
  const nonce = newNonce();
  reply
    .code(status)
    .headers(commonHeaders)
    .header('content-security-policy', contentSecurityPolicy(nonce, baseUrl))
    .type('text/html; charset=utf-8');
  return sendCompressed(reply, page(nonce));
}

/** Puts the headers on an answer that is no page: a redirect, or the script's poll. */
export function setCommonHeaders(reply: FastifyReply): FastifyReply {
  return reply
    .headers(commonHeaders)
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
}
