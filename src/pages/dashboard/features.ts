import type { Payment } from '../../payment/payment.ts';
import type { AddedColumns } from '../../reports/export-payments.ts';
import type { Html } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';

export interface DashboardFeatures {
  readonly pages: readonly ((routes: DashboardRoutes) => void)[];
  readonly homeCards: readonly HomeCard[];
  readonly paymentCards: readonly PaymentCard[];
  readonly readOrigins: ReadOrigins;
  readonly columns: readonly AddedColumns[];
}

export interface HomeCard {
  readonly show: (visit: Visit) => Promise<Html>;
  readonly register: (routes: DashboardRoutes) => void;
  readonly flashMessages: Readonly<Record<string, string>>;
}

export interface PaymentCard {
  readonly show: (visit: Visit, payment: Payment) => Promise<Html>;
  /** Registers the card's forms; a refused one shows the payment's page again. */
  readonly register: (routes: DashboardRoutes, showPayment: (visit: Visit) => Promise<PageView>) => void;
}

/** Origin of a payment other than a shop's checkout. */
export interface PaymentOrigin {
  readonly label: string;
  readonly path: string;
  readonly title: string;
  /** Personal data: the customer's answer there. */
  readonly answer: string | null;
}

/** Origins of an account's payments, by payment id; omits payments without one. */
export type ReadOrigins = (
  accountId: string,
  paymentIds: readonly string[],
) => Promise<ReadonlyMap<string, PaymentOrigin>>;
