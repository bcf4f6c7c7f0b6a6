import type { FastifyReply } from 'fastify';
import type { Page } from '../checkout/layout.ts';
import { isSafeToCompress, sendCompressed } from '../compression.ts';
import { newNonce } from '../design/nonce.ts';

/**
 * The style and the script that carry this answer's nonce, and no other; forms only to ourselves; in nobody's frame.
 */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** For every answer of the dashboard, pages or not. */
export const dashboardHeaders = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  // Not `no-referrer`: browsers then hide also from ourselves where a form comes from.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

/** Answers with a page and the headers that go with it. */
export function sendDashboardPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const nonce = newNonce();
  reply
    .code(status)
    .headers(dashboardHeaders)
    .header('content-security-policy', contentSecurityPolicy(nonce))
    .type('text/html; charset=utf-8');
  return isSafeToCompress(reply.request) ? sendCompressed(reply, page(nonce)) : reply.send(page(nonce));
}

/** Sends the browser on to a page of the dashboard. */
export function sendSeeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply
    .headers(dashboardHeaders)
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    .redirect(path, 303);
}
