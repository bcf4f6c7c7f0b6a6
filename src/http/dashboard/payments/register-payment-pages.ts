import { recordAction } from '../../../accounts/people-context.ts';
import { ServiceError } from '../../../domain/errors.ts';

import { cancelPayment } from '../../../payments/cancel-payment.ts';
import { eraseEmail } from '../../../payments/erase-email.ts';
import { readPaymentStory } from '../../../payments/read-payment-story.ts';
import { verifyWebhookSignature } from '../../../payments/verify-webhook-signature.ts';
import { parseNote } from '../../api/parse-create-request.ts';
import { type Html, nothing } from '../../design/html.ts';
import type { DashboardContext, DashboardRoutes } from '../context.ts';
import {
  type DashboardView,
  dashboardForm,
  dashboardPage,
  type SeeOther,
  seeOther,
} from '../dashboard-page.ts';
import { notice } from '../fields.ts';
import type { FormFields } from '../form-fields.ts';
import type { Visit } from '../visit.ts';
import { showEvidence } from './evidence-page.ts';
import { sendPaymentsCsv, showPayments } from './payment-list-page.ts';
import { showPayment } from './payment-page.ts';

const said: ReadonlyMap<string | null, Html> = new Map([
  ['noted', notice('good', 'The note is saved.')],
  ['canceled', notice('good', 'The payment is canceled.')],
  ['erased', notice('good', 'The customer’s e-mail address is erased.')],
]);

/** The account's payments: the list, its CSV, and each of them. */
export function registerPaymentPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const seen = { section: 'payments', role: 'viewer' } as const;
  const changed = { section: 'payments', role: 'developer' } as const;
  dashboardPage(routes, { ...seen, path: '/payments', show: (visit) => showPayments(context, visit) });
  dashboardPage(routes, {
    ...seen,
    path: '/payments.csv',
    show: (visit, reply) => sendPaymentsCsv(context, visit, reply),
  });
  dashboardPage(routes, {
    ...seen,
    path: '/payments/:paymentId',
    show: (visit) => showPayment(context, visit, { said: said.get(visit.query.get('said')) ?? nothing }),
  });
  dashboardPage(routes, {
    ...seen,
    path: '/payments/:paymentId/evidence',
    show: (visit) => showEvidence(context, visit),
  });
  dashboardForm(routes, {
    ...changed,
    path: '/payments/:paymentId/note',
    act: (visit, form) => saveNote(context, visit, form),
  });
  dashboardForm(routes, {
    ...changed,
    path: '/payments/:paymentId/cancel',
    act: (visit) => cancel(context, visit),
  });
  dashboardForm(routes, {
    section: 'payments',
    role: 'owner',
    path: '/payments/:paymentId/erase-email',
    act: (visit) => erase(context, visit),
  });
  dashboardForm(routes, {
    ...seen,
    path: '/payments/:paymentId/verify-signature',
    act: (visit) => verifySignature(context, visit),
  });
}

async function saveNote(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
): Promise<DashboardView | SeeOther> {
  const { payment } = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    await context.search.editNote(payment, parseNote(form.text('note').trim() || null));
    await recordAction(context, visit.account.id, visit.actor, 'payment.noted', payment.id);
    return seeOther(`/payments/${payment.id}?said=noted`);
  });
}

async function cancel(context: DashboardContext, visit: Visit): Promise<DashboardView | SeeOther> {
  // Whose it is, before anything is said about it.
  const { payment } = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    await cancelPayment(context, payment.id, 'merchant');
    await recordAction(context, visit.account.id, visit.actor, 'payment.canceled', payment.id);
    return seeOther(`/payments/${payment.id}?said=canceled`);
  });
}

async function erase(context: DashboardContext, visit: Visit): Promise<DashboardView | SeeOther> {
  const { payment } = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    const isErased = await eraseEmail(context, payment);
    if (isErased)
      await recordAction(context, visit.account.id, visit.actor, 'payment.email_erased', payment.id);
    return seeOther(`/payments/${payment.id}?said=erased`);
  });
}

async function verifySignature(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const { webhooks } = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const [webhook] = webhooks;
  if (webhook === undefined) throw new ServiceError('not_found');
  return showPayment(context, visit, { check: verifyWebhookSignature(context.tokens, webhook) });
}

/** What is refused is said on the payment's own page. */
async function orShown(
  context: DashboardContext,
  visit: Visit,
  act: () => Promise<SeeOther>,
): Promise<DashboardView | SeeOther> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return showPayment(context, visit, { status: error.status, said: notice('bad', error.message) });
  }
}
