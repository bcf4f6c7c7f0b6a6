import type { Payment } from '../../payment/payment.ts';
import type { AddedColumns } from '../../reports/export-payments.ts';
import type { Html } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';

/** What the features add to the dashboard. */
export interface DashboardFeatures {
  /** Register the features' pages. */
  readonly pages: readonly ((routes: DashboardRoutes) => void)[];
  readonly overviewCards: readonly OverviewCard[];
  readonly paymentCards: readonly PaymentCard[];
  readonly readOrigins: ReadOrigins;
  /** Columns of the payments' CSV. */
  readonly columns: readonly AddedColumns[];
}

/** A card of the overview, above the statistics. */
export interface OverviewCard {
  /** Empty where there is nothing to show. */
  readonly show: (visit: Visit) => Promise<Html>;
  /** Registers the card's forms. */
  readonly register: (routes: DashboardRoutes) => void;
  /** Messages at the top of the overview after a form. */
  readonly flashMessages: Readonly<Record<string, string>>;
}

/** A card of each payment's own page, below the payment's money. */
export interface PaymentCard {
  /** Empty where the payment has nothing to show. */
  readonly show: (visit: Visit, payment: Payment) => Promise<Html>;
  /** Registers the card's forms; a refused one shows the payment's page again. */
  readonly register: (routes: DashboardRoutes, showPayment: (visit: Visit) => Promise<PageView>) => void;
}

/** Where a customer made a payment, beside the checkouts of a shop. */
export interface PaymentOrigin {
  /** The kind of the place, as a label. */
  readonly label: string;
  /** Its page, below the dashboard's path. */
  readonly path: string;
  readonly title: string;
  /** What the customer answered there: personal data. */
  readonly answer: string | null;
}

/** The origins of those of an account's payments that have one, by the payments' ids. */
export type ReadOrigins = (
  accountId: string,
  paymentIds: readonly string[],
) => Promise<ReadonlyMap<string, PaymentOrigin>>;
