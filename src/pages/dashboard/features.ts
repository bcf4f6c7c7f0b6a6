import type { Payment } from '../../payment/payment.ts';
import type { Html } from '../../web/design/html.ts';
import type { Visit } from '../../web/signed-in/context.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';

export interface DashboardFeatures {
  readonly pages: readonly ((routes: DashboardRoutes) => void)[];
  readonly homeCards: readonly HomeCard[];
  readonly paymentCards: readonly PaymentCard[];
}

export interface HomeCard {
  readonly show: (visit: Visit) => Promise<Html>;
  readonly register: (routes: DashboardRoutes) => void;
  readonly flashMessages: Readonly<Record<string, string>>;
}

export interface PaymentCard {
  /** Renders the card and a link to it beside the page's title. The link is `nothing` if the card is empty. */
  readonly show: (visit: Visit, payment: Payment) => Promise<readonly [link: Html, card: Html]>;
  /** Registers the card's forms. A refused form shows the payment's page again. */
  readonly register: (routes: DashboardRoutes, showPayment: (visit: Visit) => Promise<PageView>) => void;
}
