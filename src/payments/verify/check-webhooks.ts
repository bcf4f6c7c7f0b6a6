import { paidWebhook } from '../../domain/paid-webhook.ts';
import type { Findings, PaymentFacts } from './payment-facts.ts';

/** A paid payment has its one event, which says what the payment says; no other payment has any. */
export function checkWebhooks({ view: { payment }, webhooks }: PaymentFacts, findings: Findings): void {
  if (payment.status !== 'paid') {
    for (const { event, status } of webhooks) {
      findings.add('webhook_unfounded', 'no webhook', `${event}, ${status}`);
    }
    return;
  }
  const { event, fields } = paidWebhook(payment);
  const webhook = webhooks.find((candidate) => candidate.event === event);
  if (webhook === undefined) {
    findings.add('webhook_missing', event, 'no webhook');
    return;
  }
  for (const [name, value] of Object.entries(fields)) {
    // The note may be edited after the event was written.
    if (name === 'note') continue;
    findings.compare('webhook_contents', `${name}: ${value}`, `${name}: ${webhook.fields[name]}`);
  }
}
