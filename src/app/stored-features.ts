import { createAlertStore, storedAlerts } from '../features/alerts/stored-alerts.ts';
import {
  createNotificationStore,
  storedNotifications,
} from '../features/notifications/stored-notifications.ts';
import {
  createPaymentPageStore,
  storedPaymentPages,
} from '../features/payment-pages/stored-payment-pages.ts';
import { recordedRefunds } from '../features/refunds/refunds.ts';
import { createRefundStore, storedRefunds } from '../features/refunds/stored-refunds.ts';
import type { Scripts } from '../store/scripts.ts';
import type { StoredFeature } from '../store/stored-feature.ts';

/** Features that store data, in the order in which their tables are created. */
export const storedFeatures: readonly StoredFeature[] = [
  storedRefunds,
  storedPaymentPages,
  storedNotifications,
  storedAlerts,
];

export function createFeatureStores(scripts: Scripts) {
  const refunds = createRefundStore(scripts);
  return {
    alerts: createAlertStore(scripts),
    notifications: createNotificationStore(scripts),
    refunds,
    featureRecords: recordedRefunds(refunds),
    paymentPages: createPaymentPageStore(scripts),
  };
}
