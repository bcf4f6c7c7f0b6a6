import { eraseEmail } from '../../accounts/erase-old-data.ts';
import { type Expansion, expansions } from '../../api/merchant/merchant-schemas.ts';
import { presentExpandedPayment } from '../../api/merchant/present-payments.ts';
import { invalidField } from '../../payment/errors.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import { html } from '../../web/design/html.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { cardForm, type FormFields, flashOf, optional } from '../../web/signed-in/forms.ts';
import { sendDownload } from '../../web/signed-in/layout.ts';
import { type DashboardRoutes, type PageAnswer, type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { readPaymentHistory } from '../../webhooks/payment-history.ts';
import { confirmedForm, requirePasswordAndFactor } from './security-pages.ts';
import { CUSTOMERS, settingsView } from './settings-pages.ts';

const PATH = `/settings${CUSTOMERS}`;
/** Maximum number of payments per export or erasure. If there are more, the file or page says so. */
const MAXIMUM_PAYMENTS = 1_000;
const PAGE_SIZE = 100;
const MAXIMUM_EMAIL_CHARACTERS = 254;

/** Registers the page where owners export or erase data stored under a customer's email address. */
export function registerCustomerPage(routes: DashboardRoutes): void {
  const pages = routes.pages('settings', 'owner');
  pages.page(PATH, showCustomer);
  pages.form(`${PATH}/export`, exportCustomer, showCustomer);
  pages.form(`${PATH}/erase`, eraseCustomer, showCustomer);
}

const before = optional(
  'Older payments',
  '',
  `A file has the newest ${MAXIMUM_PAYMENTS} payments. For those before them, enter its "next".`,
);

async function showCustomer(visit: Visit): Promise<PageView> {
  const erase = `${DASHBOARD_PATH}${PATH}/erase`;
  const email = { label: 'Customer’s email address', type: 'email', autocomplete: 'off' } as const;
  return settingsView(
    CUSTOMERS,
    html`${flashOf(visit, {
      erased: 'The email address is erased from all payments of this account.',
      more: `The email address is erased from the newest ${MAXIMUM_PAYMENTS} payments. Erase it again for the others.`,
    })}
${cardForm(visit, { title: 'Export', action: `${DASHBOARD_PATH}${PATH}/export`, fields: { email, before }, button: 'Export as JSON' })}
${await confirmedForm(visit, {
  action: erase,
  style: 'card',
  introduction: html`<h2>Erase</h2><p>Erases the address, the customer’s answers on payment pages and the metadata of checkouts from every payment with it:
also from the search, the links to providers and the recorded webhooks. Notes, the providers and your own systems keep theirs. This cannot be undone.</p>`,
  fields: { email: { ...email, id: 'email-to-erase' } },
  button: 'Erase',
  look: 'danger',
})}`,
  );
}

/** Returns payments with this email address, ignoring case, newest first, and the id from which to continue. */
async function paymentsOf({ context, account }: Visit, form: FormFields) {
  const email = form.text('email').trim().toLowerCase();
  if (email.length > MAXIMUM_EMAIL_CHARACTERS || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalidField('email', 'must be an email address');
  const after = form.text('before').trim();
  if (after !== '' && !isPaymentId(after)) throw invalidField('before', 'must be the "next" of a file');
  // Not parsed as a search, because an email address may look like a link to a payment.
  const search = { kind: 'words', words: [[{ kind: 'email', beginning: email }]] } as const;
  const payments: Payment[] = [];
  let next: PaymentId | null = after === '' ? null : after;
  do {
    const limit = Math.min(PAGE_SIZE, MAXIMUM_PAYMENTS - payments.length);
    const page = await context.search.searchPayments({ accountId: account.id, search }, next, limit);
    payments.push(...page.payments.filter((payment) => payment.email?.toLowerCase() === email));
    next = page.next;
  } while (next !== null && payments.length < MAXIMUM_PAYMENTS);
  return { payments, next };
}

async function exportCustomer(visit: Visit, form: FormFields): Promise<PageAnswer> {
  const { payments, next } = await paymentsOf(visit, form);
  if (payments.length === 0) throw invalidField('email', 'is in no payment of this account');
  await record(visit, 'customer.exported', countOf(payments));
  const origins = await visit.context.readOrigins(
    visit.account.id,
    payments.map(({ id }) => id),
  );
  return sendDownload(visit.reply, 'customer.json', 'application/json', lines());

  async function* lines(): AsyncGenerator<string> {
    yield `{"exported_at":${JSON.stringify(new Date(visit.context.nowMs()).toISOString())},"payments":[`;
    for (const [index, { id }] of payments.entries()) {
      const history = await readPaymentHistory(visit.context, visit.account.id, id);
      const kept = {
        ...presentExpandedPayment(visit.context.baseUrl, history, everything),
        page_answer: origins.get(id)?.answer ?? null,
        provider_links: history.sessions.map(({ redirectUrl }) => redirectUrl),
        webhook_bodies: history.webhooks.flatMap(({ result }) => result?.body ?? []),
      };
      yield `${index === 0 ? '' : ','}\n${JSON.stringify(kept)}`;
    }
    yield `\n],"is_complete":${next === null},"next":${JSON.stringify(next)}}\n`;
  }
}

const everything: ReadonlySet<Expansion> = new Set(expansions);

const eraseCustomer = async (visit: Visit, form: FormFields): Promise<PageAnswer> => {
  const { context, account } = visit;
  const { found } = await requirePasswordAndFactor(visit, form, { found: () => paymentsOf(visit, form) });
  const { payments, next } = found;
  await context.emails.eraseReceiptAddress(account.id, form.text('email').trim().toLowerCase());
  if (payments.length === 0) throw invalidField('email', 'is in no payment of this account');
  await record(visit, 'customer.erased', countOf(payments));
  for (const payment of payments) await eraseEmail(context, payment);
  return seeOther(`${PATH}?flash=${next === null ? 'erased' : 'more'}`);
};

function countOf({ length }: readonly Payment[]): string {
  return `${length} payment${length === 1 ? '' : 's'}`;
}
