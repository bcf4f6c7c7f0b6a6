import type { Tally } from './promises.ts';
import type { RawAnswer } from './raw-exchange.ts';

/** What anybody may keep: the same for all, and public. */
const storable = new Set(['/.well-known/card-checkout.json']);

/** No cookie, or what a customer chose the last time, out of reach of scripts, of other sites' forms and of plain HTTP. */
const choice =
  /^$|^(?:provider|language)=\w{1,20}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure$/;

/** What is wrong with the headers of an answer of the public server that is reached by HTTPS; empty when nothing is. */
export function headerFaults(path: string, { headers, body }: RawAnswer): string[] {
  const policy = headers.get('content-security-policy') ?? '';
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  const required: [string, boolean][] = [
    ['no sniffing', headers.get('x-content-type-options') === 'nosniff'],
    ['HSTS for a year', /^max-age=31536000\b/.test(headers.get('strict-transport-security') ?? '')],
    ['nothing but what is named', policy.includes("default-src 'none'")],
    ['no framing', policy.includes("frame-ancestors 'none'")],
    ['no path in a referrer', /^(no-referrer|strict-origin)$/.test(headers.get('referrer-policy') ?? '')],
    ['no storing', storable.has(path) || headers.get('cache-control') === 'no-store'],
    ['no name of what serves', !headers.has('server') && !headers.has('x-powered-by')],
    ['no cookie but a remembered choice', choice.test(headers.get('set-cookie') ?? '')],
    ...(isPage ? pageRequirements(headers, policy, body) : []),
  ];
  return required.flatMap(([what, isThere]) => (isThere ? [] : [what]));
}

function pageRequirements(
  headers: ReadonlyMap<string, string>,
  policy: string,
  body: string,
): [string, boolean][] {
  const nonce = /script-src 'nonce-([\w-]{24})'(?:;|$)/.exec(policy)?.[1];
  const tags = [...body.matchAll(/<(?:script|style)\b[^>]*>/g)].map(([tag]) => tag);
  return [
    ['no framing in old browsers', headers.get('x-frame-options') === 'DENY'],
    ['a nonce for scripts', nonce !== undefined],
    ['the nonce on every script and style', tags.every((tag) => tag.includes(`nonce="${nonce}"`))],
    ['no script or style within a tag', !/<[^>]+\s(?:on\w+|style)\s*=/.test(body)],
    [
      'nothing that is not ours',
      !/<(?:script|link|img|iframe|object|embed)\b[^>]*(?:src|href)=["']?https?:/.test(body),
    ],
    ['no unsafe word in the policy', !/unsafe-|\*/.test(policy)],
  ];
}

/** Keeps an eye on the headers of many answers, and on nonces, which are good for one answer only. */
export function createHeaderCheck(tally: Tally): (what: string, path: string, answer: RawAnswer) => void {
  const nonces = new Set<string>();
  return (what, path, answer) => {
    const faults = headerFaults(path, answer);
    const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
    if (nonce !== undefined && nonces.has(nonce)) faults.push('a nonce of its own');
    if (nonce !== undefined) nonces.add(nonce);
    tally.expect(
      'headers',
      faults.length === 0,
      () => `${what} (${answer.status}) lacks ${faults.join(', ')}`,
    );
  };
}
