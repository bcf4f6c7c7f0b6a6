import { forwardedWebhook } from '../../domain/forwarded-webhook.ts';
import { paidWebhook } from '../../domain/paid-webhook.ts';
import { isDirect, type Payment } from '../../domain/payment.ts';
import type { NewWebhook } from '../../domain/webhook.ts';
import type { Findings, PaymentFacts } from './payment-facts.ts';

/** A paid payment has its one event, a direct one that was completed a second; each says what the payment says. No others exist. */
export function checkWebhooks({ view: { payment }, webhooks }: PaymentFacts, findings: Findings): void {
  const expected = expectedWebhooks(payment);
  for (const { event, status } of webhooks) {
    if (expected.some((each) => each.event === event)) continue;
    findings.add('webhook_unfounded', 'no webhook', `${event}, ${status}`);
  }
  for (const { event, fields } of expected) {
    const webhook = webhooks.find((candidate) => candidate.event === event);
    if (webhook === undefined) {
      findings.add('webhook_missing', event, 'no webhook');
      continue;
    }
    for (const [name, value] of Object.entries(fields)) {
      // The note may be edited after the event was written; of a direct payment more may be released than it told of.
      if (name === 'note' || (name === 'receivedAmount' && isDirect(payment))) continue;
      findings.compare('webhook_contents', `${name}: ${value}`, `${name}: ${webhook.fields[name]}`);
    }
  }
}

function expectedWebhooks(payment: Payment): readonly NewWebhook[] {
  if (payment.status !== 'paid') return [];
  const isForwarded = isDirect(payment) && payment.forwardStatus === 'completed';
  return [paidWebhook(payment), ...(isForwarded ? [forwardedWebhook(payment)] : [])];
}
