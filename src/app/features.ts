import type { MerchantFeatures } from '../api/merchant/merchant-routes.ts';
import { describeApi } from '../api/openapi/create-openapi-document.ts';
import type { Config } from '../config/config.ts';
import { alertsCard } from '../features/alerts/alerts-card.ts';
import { alertTask } from '../features/alerts/send-alerts.ts';
import { registerBrandingPreview } from '../features/branding-preview/preview-page.ts';
import { registerConnectPages } from '../features/connect/connect-pages.ts';
import { describedConnect, registerConnect } from '../features/connect/connect-route.ts';
import type { ConnectContext } from '../features/connect/connect-shop.ts';
import { registerNotificationPages } from '../features/notifications/notification-pages.ts';
import {
  type ChannelsContext,
  createNotificationTask,
  type Notifier,
} from '../features/notifications/send-notifications.ts';
import { type PaymentPagesContext, registerPaymentPage } from '../features/payment-pages/customer-page.ts';
import {
  paymentPageColumns,
  readPageOrigins,
  registerPaymentPages,
} from '../features/payment-pages/dashboard-pages.ts';
import { registerLinkPages } from '../features/payment-pages/link-pages.ts';
import type { PaymentPageStore } from '../features/payment-pages/payment-page.ts';
import { receiptTask } from '../features/receipts/send-receipts.ts';
import { registerRefundPage } from '../features/refunds/customer-page.ts';
import {
  paymentHints,
  refundColumns,
  refundsCard,
  registerRefundsPage,
} from '../features/refunds/dashboard-pages.ts';
import {
  describedRefunds,
  type RefundRoutesContext,
  readEventRefunds,
  registerRefunds,
} from '../features/refunds/refund-routes.ts';
import { refundTask } from '../features/refunds/watch-refunds.ts';
import type { Mailer } from '../mail/mail.ts';
import type { CheckoutRoutes } from '../pages/checkout/context.ts';
import type { DashboardFeatures } from '../pages/dashboard/features.ts';
import type { Clock } from '../platform/clock.ts';
import { createKeyedHash } from '../platform/keyed-hash.ts';
import type { DashboardContext } from '../web/signed-in/context.ts';
import type { ExternalServices } from './external-services.ts';
import type { Log } from './log.ts';
import type { Store } from './store/store.ts';

export interface FeatureContext extends ChannelsContext, PaymentPagesContext, RefundRoutesContext {
  readonly paymentPages: PaymentPageStore;
  /** Time after creation during which a checkout can be paid. */
  readonly expiryMs: number;
}

export const createFeatureParts = (secretKey: string, config: Pick<Config, 'previousSecretKeys'>) => ({
  addressLinkTokens: createKeyedHash('links of refunds', secretKey, config.previousSecretKeys),
});

interface TaskParts extends Pick<Clock, 'nowMs'> {
  readonly store: Store;
  readonly external: ExternalServices;
  readonly mailer: Mailer | null;
  readonly notifier: Notifier;
  readonly baseUrl: string;
  readonly log: Log;
}

export function featureTasks({ store, external, mailer, notifier, baseUrl, nowMs, log }: TaskParts) {
  const common = { ...store, dashboardUrl: `${baseUrl}/dashboard`, nowMs, log };
  const { adapters, explorerTransactionUrl, intervals } = external;
  const notifications = createNotificationTask({ ...common, notifier });
  return {
    /** Tasks that only one process may run at a time. */
    watching: [
      refundTask({ ...common, chain: external.chain }, intervals.featureIntervalMs),
      notifications.task,
    ],
    /** Tasks that run in every process; none if email is not configured. */
    shared:
      mailer === null
        ? []
        : [
            receiptTask({ ...common, mailer, baseUrl, explorerTransactionUrl, adapters }),
            alertTask({ ...common, mailer }),
          ],
    drain: notifications.drain,
  };
}

export function dashboardFeatures(context: FeatureContext): DashboardFeatures {
  const { paymentPages } = context;
  return {
    pages: [
      registerConnectPages,
      (routes) => registerBrandingPreview(routes, context),
      (routes) => registerNotificationPages(routes, context),
      registerLinkPages,
      (routes) => registerRefundsPage(routes, context),
      (routes) => registerPaymentPages(routes, paymentPages),
    ],
    homeCards: [alertsCard],
    paymentCards: [refundsCard(context)],
  };
}

export const paymentAdditions = (
  context: Pick<FeatureContext, 'paymentPages' | 'refunds'>,
): Pick<DashboardContext, 'readOrigins' | 'readReturned' | 'columns' | 'paymentHints'> => ({
  readOrigins: (accountId, ids) => readPageOrigins(context.paymentPages, accountId, ids),
  readReturned: (accountId, ids) => context.refunds.sumPaidRefunds(accountId, ids),
  columns: [refundColumns(context), paymentPageColumns(context.paymentPages)],
  paymentHints,
});

export const checkoutFeatures = (context: FeatureContext): readonly ((routes: CheckoutRoutes) => void)[] => [
  (routes) => registerRefundPage(routes, context),
  (routes) => registerPaymentPage(routes, context),
];

export const merchantFeatures = (
  context: RefundRoutesContext,
  connect: ConnectContext,
): MerchantFeatures => ({
  operations: [(routes) => registerRefunds(routes, context), (routes) => registerConnect(routes, connect)],
  readEventFields: (accountId, events) => readEventRefunds(context, accountId, events),
});

export const apiDescription = describeApi({
  merchantTag:
    'Read, follow, cancel and refund the payments of your account from your own programs. Not part of the checkout API and its version.',
  operations: [
    { after: 'cancelPayment', added: describedRefunds.operations },
    { after: 'createDirectPayment', added: describedConnect.operations },
  ],
  bodies: { ...describedConnect.bodies, ...describedRefunds.bodies },
  schemas: { ...describedRefunds.answers, ...describedConnect.schemas, ...describedRefunds.requests },
  events: describedRefunds.events,
});
