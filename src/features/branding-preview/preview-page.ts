import type { Account } from '../../accounts/account.ts';
import { darkerColorOf } from '../../accounts/brand-color.ts';
import { readProfileUpdate } from '../../accounts/manage-accounts.ts';
import { checkoutPage } from '../../pages/checkout/checkout-page.ts';
import { checkoutOf, type ReadCheckoutContext } from '../../pages/checkout/read-checkout.ts';
import { createPayment } from '../../payment/create-payment.ts';
import { languageOf } from '../../web/checkout-layout/languages.ts';
import { sendExample } from '../../web/checkout-layout/layout.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import type { FormFields } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';

type PreviewContext = Pick<ReadCheckoutContext, 'expiryMs'>;

/** Registers a preview of the checkout page with edited settings, which stores nothing. */
export function registerBrandingPreview(routes: DashboardRoutes, context: PreviewContext): void {
  const pages = routes.pages('settings', 'owner');
  pages.form('/settings/preview', (visit, form) => showPreview(context, visit, form));
}

async function showPreview({ expiryMs }: PreviewContext, visit: Visit, form: FormFields) {
  const { context, request } = visit;
  const account = await typedAccount(visit, form);
  // Keeps the preview unchanged while a field is incomplete.
  if (account === null) return visit.reply.code(204).send();
  const { create } = context;
  const payments = { ...create.payments, createPayment: async () => ({ kind: 'created' }) as const };
  const payment = await createPayment({ ...create, payments }, account, {
    payoutAddress: account.wallet ?? create.settlement.feeWallet,
    callbackUrl: null,
    amountCents: 49_00,
    currency: account.baseCurrency,
    passFeeToCustomer: false,
    provider: 'multi',
    email: null,
    note: null,
    idempotencyKey: null,
    order: { orderLine: 'Example order', origin: null },
  });
  const stored = { payment, observations: { deposits: [], releases: [], finalBlock: 0 }, sessions: [] };
  const checkout = await checkoutOf({ ...context, expiryMs }, stored, account, []);
  const page = checkoutPage(
    { ...checkout, path: visit.path },
    {
      ...context,
      language: languageOf(request),
      userAgent: request.headers['user-agent'] ?? '',
      isExample: true,
      problem: null,
    },
  );
  return sendExample(visit.reply, page);
}

/** Returns the account with the edited settings, darkening the color if necessary; null if a setting is invalid. */
async function typedAccount({ account, context }: Visit, form: FormFields): Promise<Account | null> {
  const color = form.text('brand_color');
  const texts = {
    name: form.text('name'),
    'brand-color': darkerColorOf(color) ?? color,
    'support-link': form.text('support_link'),
    'terms-link': form.text('terms_link'),
  };
  const typed = await readProfileUpdate(context, account, { texts }).catch(() => null);
  return typed && ({ ...account, ...typed, suspended: false, isWalletLocked: false } as Account);
}
