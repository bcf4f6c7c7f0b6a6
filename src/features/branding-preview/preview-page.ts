import type { Account } from '../../accounts/account.ts';
import { darkerColorOf } from '../../accounts/brand-color.ts';
import { type TextSetting, textSettings } from '../../accounts/shop-profile.ts';
import { checkoutPage } from '../../pages/checkout/checkout-page.ts';
import { checkoutOf, type ReadCheckoutContext } from '../../pages/checkout/read-checkout.ts';
import { createPayment } from '../../payment/create-payment.ts';
import { ServiceError } from '../../payment/errors.ts';
import { languageOf } from '../../web/checkout-frame/languages.ts';
import { sendExample } from '../../web/checkout-frame/layout.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import type { FormFields } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';

type PreviewContext = Pick<ReadCheckoutContext, 'expiryMs'>;

/** The checkout as customers will see it with the settings that are being typed. Stores nothing. */
export function registerBrandingPreview(routes: DashboardRoutes, context: PreviewContext): void {
  const pages = routes.pages('settings', 'owner');
  pages.form('/settings/preview', (visit, form) => showPreview(context, visit, form));
}

async function showPreview({ expiryMs }: PreviewContext, visit: Visit, form: FormFields) {
  const { context, request } = visit;
  const account = typedAccount(visit.account, form);
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

/** The account with the typed settings; a setting that would be refused stays as it is, and a light color is darkened. */
function typedAccount(account: Account, form: FormFields): Account {
  const names: readonly TextSetting[] = ['name', 'brand-color', 'support-link', 'terms-link'];
  const changes = names.map((name) => {
    const typed = form.text(name.replace('-', '_'));
    try {
      return textSettings[name](name === 'brand-color' ? (darkerColorOf(typed) ?? typed) : typed);
    } catch (error) {
      if (error instanceof ServiceError) return {};
      throw error;
    }
  });
  return Object.assign({ ...account, suspended: false, isWalletLocked: false }, ...changes);
}
