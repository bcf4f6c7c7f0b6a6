import type { PeerCertificate } from 'node:tls';
import { parseCallbackUrl } from '../payment/callback-url.ts';
import { DAY_MS } from '../platform/time-zone.ts';
import { type AttemptOutcome, type DeliveryDependencies, deliverWebhook } from './deliver.ts';
import { reasonSentence } from './delivery-reasons.ts';
import type { EndpointStep } from './delivery-types.ts';

const CERTIFICATE_WARNING_DAYS = 14;
const SLOW_MS = 5_000;

interface Step {
  readonly name: string;
  /** Pattern of the delivery reasons that mean a failure of this step. */
  readonly reasons: RegExp;
  readonly passed?: string;
  readonly advice: string;
}

const steps: readonly Step[] = [
  {
    name: 'URL',
    reasons: /^blocked_url/,
    passed: 'The URL is allowed.',
    advice: 'Enter a public https:// URL.',
  },
  {
    name: 'DNS',
    reasons: /^dns_/,
    passed: 'The name resolves.',
    advice: 'Correct the name, or add its A or AAAA record.',
  },
  {
    name: 'Address',
    reasons: /^blocked_/,
    passed: 'The service may send to all addresses of the name.',
    advice: 'Use a host with public addresses only. For development, use a tunnel or the sandbox.',
  },
  {
    name: 'Connection',
    reasons: /^connect_/,
    passed: 'The host accepts connections.',
    advice: 'Check that the server runs, and that its firewall accepts connections on this port.',
  },
  {
    name: 'Certificate',
    reasons: /^tls_/,
    advice: 'Install a certificate of a public authority for this host, with its whole chain.',
  },
  {
    name: 'Answer',
    reasons: /^/,
    advice: 'Answer with HTTP/1.1 within ten seconds: store the event, answer, then work.',
  },
];

/** Tests whether an endpoint can receive webhooks, with a POST that follows the delivery rules but carries no event. */
export async function checkEndpoint(
  dependencies: DeliveryDependencies,
  url: string,
): Promise<readonly EndpointStep[]> {
  const parsed = parseCallbackUrl(url, dependencies.allowedHosts);
  if (!parsed.ok) return [{ name: 'URL', level: 'fail', detail: `The URL ${parsed.reason}.` }];
  let certificate: PeerCertificate | null = null;
  const onConnected: DeliveryDependencies['onConnected'] = (socket) => {
    certificate = socket.getPeerCertificate();
  };
  const attempt = await deliverWebhook({ ...dependencies, onConnected }, { url, body: '', signature: null });
  const { httpStatus, reason } = attempt;
  const end =
    httpStatus === null ? steps.findIndex(({ reasons }) => reasons.test(reason ?? '')) : steps.length - 1;
  const passed = steps
    .slice(0, end)
    .map(
      ({ name, passed: detail = '' }): EndpointStep =>
        name === 'Certificate' ? certificateStep(certificate) : { name, level: 'ok', detail },
    );
  if (httpStatus !== null) return [...passed, ...answerSteps(attempt, httpStatus)];
  const { name, advice } = steps[end] as Step;
  // Removes the sentence about the event, because the test carries none.
  const sentence = reasonSentence(reason).replace(' The event may have arrived.', '');
  return [...passed, { name, level: 'fail', detail: `${sentence} ${advice}` }];
}

function certificateStep(certificate: PeerCertificate | null): EndpointStep {
  const validToMs = Date.parse(certificate?.valid_to ?? '');
  const days = Math.floor((validToMs - Date.now()) / DAY_MS);
  const detail = `It is valid until ${new Date(validToMs).toISOString().slice(0, 10)}, for ${days} more days.`;
  const isLong = days >= CERTIFICATE_WARNING_DAYS;
  const level = isLong ? 'ok' : 'warn';
  return { name: 'Certificate', level, detail: isLong ? detail : `${detail} Renew it now.` };
}

function answerSteps({ durationMs, responseHeaders }: AttemptOutcome, status: number): EndpointStep[] {
  const isRedirect = status >= 300 && status <= 399;
  const target = responseHeaders.location?.slice(0, 200) ?? 'another URL';
  const took = `The whole test took ${durationMs} ms.`;
  return [
    isRedirect
      ? {
          name: 'Redirect',
          level: 'fail',
          detail: `It redirects to ${target}. No redirect is followed: enter the final URL.`,
        }
      : { name: 'Redirect', level: 'ok', detail: 'It does not redirect.' },
    { name: 'Answer', ...statusFinding(status) },
    durationMs < SLOW_MS
      ? { name: 'Time', level: 'ok', detail: took }
      : {
          name: 'Time',
          level: 'warn',
          detail: `${took} A delivery ends after ten seconds: answer first, then work.`,
        },
  ];
}

function statusFinding(status: number): Pick<EndpointStep, 'level' | 'detail'> {
  const said = `It answered ${status} to a request without a signature`;
  if (status === 404 || status === 405 || status === 410)
    return { level: 'fail', detail: `${said}: nothing receives POST at this path. Correct the path.` };
  if (status >= 200 && status <= 299)
    return {
      level: 'warn',
      detail: `${said}. Check that it verifies X-Service-Signature before it answers 2xx.`,
    };
  if (status >= 400 && status <= 428) return { level: 'ok', detail: `${said}, as a receiver should.` };
  const level = status >= 300 && status <= 399 ? 'fail' : 'warn';
  return { level, detail: `${said}. It should refuse one with 400 or 401: see its log.` };
}
