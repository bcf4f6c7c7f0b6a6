import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Html } from './html.ts';
import type { Page } from './layout.ts';
import { continueScript, pageScript, pageStyle } from './page-assets.ts';

/**
 * The pages' policy: our own style and scripts, named by their hashes, and no other. Unlike a nonce, a hash is the same
 * for every visitor, so that neither the policy nor the page has to be made anew around it.
 *
 * `form-action` applies in Chrome to every redirect that follows a form, and providers send their customers on to hosts
 * that we cannot know: so any secure host is allowed there, and nothing else is. A page that itself comes over plain
 * HTTP (only ever on loopback) may also send its forms over plain HTTP.
 */
function contentSecurityPolicy(formTargets: string): string {
  return [
    "default-src 'none'",
    `style-src ${sourceOf(pageStyle)}`,
    `script-src ${sourceOf(pageScript)} ${sourceOf(continueScript)}`,
    "connect-src 'self'",
    'img-src data:',
    `form-action 'self' ${formTargets}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function sourceOf(inline: Html): string {
  return `'sha256-${hash('sha256', inline.toString(), 'base64')}'`;
}

const policies = {
  https: contentSecurityPolicy('https:'),
  http: contentSecurityPolicy('https: http:'),
} as const;

const commonHeaders = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  // Providers that check where a customer comes from get the origin; the path, which opens the checkout, stays here.
  'referrer-policy': 'strict-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

/** Answers with a page and the headers that go with it. */
export function sendPage(
  reply: FastifyReply,
  { status, baseUrl, page }: { readonly status: number; readonly baseUrl: string; readonly page: Page },
): FastifyReply {
  return reply
    .code(status)
    .headers(commonHeaders)
    .header('content-security-policy', policies[baseUrl.startsWith('http:') ? 'http' : 'https'])
    .type('text/html; charset=utf-8')
    .send(Buffer.concat([page.before, Buffer.from(page.own.toString()), page.after]));
}

/** Puts the headers on an answer that is no page: a redirect, or the script's poll. */
export function setCommonHeaders(reply: FastifyReply): FastifyReply {
  return reply
    .headers(commonHeaders)
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
}
