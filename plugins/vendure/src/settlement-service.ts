import {
  ApiError,
  type Client,
  type MerchantPayment,
  type Refund as ServiceRefund,
} from '@card-checkout/sdk';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  ChannelService,
  EventBus,
  isGraphQlErrorResult,
  type LanguageCode,
  Logger,
  type Order,
  OrderService,
  OrderStateTransitionEvent,
  Refund,
  RequestContext,
  RequestContextService,
  SettingsStoreService,
  TransactionalConnection,
  totalCoveredByPayments,
} from '@vendure/core';
import { In, LessThan, MoreThan, MoreThanOrEqual } from 'typeorm';
import { decimal } from './amounts.ts';
import { CardCheckout } from './card-checkout-entity.ts';
import { noticeOfPayment, noticeOfRefund } from './notices.ts';
import { CLIENT, LOGGER_CONTEXT, noteOf } from './options.ts';

const EVENT_NUMBER = 'cardCheckout.eventNumber';
/** Maximum log pages and payments that one run reads. The next run continues. */
const PAGES_OF_A_RUN = 20;
const PAYMENTS_OF_A_RUN = 50;
/** Number of failures that end a run, because the service or the database is unavailable. */
const MAXIMUM_FAILURES = 3;
/** Maximum pending refunds checked per run. Each is read once a day, because its expiry causes no event. */
const REFUNDS_OF_A_RUN = 500;
const DAY_MS = 86_400_000;
/** Order states that accept no further payment. */
const endedStates: ReadonlySet<string> = new Set(['PaymentAuthorized', 'PaymentSettled', 'Cancelled']);

/** Service that applies payments and refunds to their orders. */
@Injectable()
export class SettlementService implements OnApplicationBootstrap {
  constructor(
    @Inject(CLIENT) private readonly client: Client,
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly channels: ChannelService,
    private readonly contexts: RequestContextService,
    private readonly settings: SettingsStoreService,
    private readonly events: EventBus,
  ) {}

  onApplicationBootstrap(): void {
    this.events.ofType(OrderStateTransitionEvent).subscribe(({ toState, order }) => {
      if (endedStates.has(toState)) void this.closeAll(order.code);
    });
  }

  /** Records events of these payments, so that `follow` reads them even if this process exits now. */
  async report(checkoutIds: string[]): Promise<void> {
    await this.rows().increment({ checkoutId: In(checkoutIds) }, 'due', 1);
  }

  /** Reads a payment and applies it to its order; null for a payment of another shop. */
  async confirm(checkoutId: string): Promise<CardCheckout | null> {
    const read = await this.rows().findOneBy({ checkoutId });
    if (read === null) return null;
    const payment = await this.client.payments.get(checkoutId);
    const hasRefunds = (await this.pendingRefunds(RequestContext.empty(), checkoutId)).length > 0;
    const refunds = hasRefunds ? (await this.client.refunds.list(checkoutId)).refunds : [];
    const ctx = await this.contextOf(read);
    try {
      return await this.connection.withTransaction(ctx, (inside) =>
        this.apply(inside, read, payment, refunds),
      );
    } catch (error) {
      await this.connection.withTransaction(ctx, (inside) => this.tellFailure(inside, read, error));
      throw error;
    }
  }

  /** Reads the account's event log from the last position, then this shop's payments in it. */
  async follow(): Promise<void> {
    const ctx = RequestContext.empty();
    for (let [page, hasMore] = [0, true]; hasMore && page < PAGES_OF_A_RUN; page++) {
      const position = await this.settings.get<{ after: number }>(ctx, EVENT_NUMBER);
      const { events, next_after: after, has_more } = await this.eventsAfter(position?.after);
      await this.report(events.map(({ payment }) => payment.payment_id));
      await this.settings.set(ctx, EVENT_NUMBER, { after });
      hasMore = has_more;
    }
    await this.reportOldRefunds(ctx);
    const due = {
      where: { due: MoreThan(0) },
      order: { updatedAt: 'ASC' },
      take: PAYMENTS_OF_A_RUN,
    } as const;
    let failures = 0;
    for (const { checkoutId, orderCode } of await this.rows().find(due)) {
      try {
        await this.confirm(checkoutId);
      } catch (error) {
        Logger.error(`order ${orderCode}, payment ${checkoutId}: ${error}`, LOGGER_CONTEXT);
        // Lets the next run start with other payments.
        await this.rows().update({ checkoutId }, { updatedAt: new Date() });
        if (++failures === MAXIMUM_FAILURES) return;
      }
    }
  }

  /** Reads the next events. If events were deleted meanwhile, marks all checkouts to be read. */
  private async eventsAfter(after: number | undefined) {
    try {
      return await this.client.events.list(after === undefined ? {} : { after });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'cursor_expired')) throw error;
      await this.rows().increment({ due: MoreThanOrEqual(0) }, 'due', 1);
      return this.client.events.list();
    }
  }

  private async reportOldRefunds(ctx: RequestContext): Promise<void> {
    const query = {
      where: { state: 'Pending' },
      relations: { payment: true },
      take: REFUNDS_OF_A_RUN,
    } as const;
    const pending = await this.connection.getRepository(ctx, Refund).find(query);
    const checkoutId = In(pending.map(({ payment }) => payment.transactionId));
    await this.rows().increment({ checkoutId, updatedAt: LessThan(new Date(Date.now() - DAY_MS)) }, 'due', 1);
  }

  /** Cancels the open checkouts of a paid or canceled order. */
  private async closeAll(orderCode: string): Promise<void> {
    for (const { checkoutId } of await this.rows().findBy({ orderCode, state: 'open' }))
      await this.client.payments.cancel(checkoutId).catch((error) => {
        Logger.warn(
          `order ${orderCode}: payment ${checkoutId} was not canceled: ${error.message}`,
          LOGGER_CONTEXT,
        );
      });
  }

  /** Applies a payment to its order. Locks the order's checkouts against concurrent webhooks, runs and customers. */
  private async apply(
    ctx: RequestContext,
    read: CardCheckout,
    payment: MerchantPayment,
    refunds: readonly ServiceRefund[],
  ): Promise<CardCheckout> {
    const { id, orderCode } = read;
    const checkouts = this.connection.getRepository(ctx, CardCheckout);
    await checkouts.update({ orderCode }, { updatedAt: new Date() });
    const checkout = await checkouts.findOneByOrFail({ id });
    const order = await this.orders.findOneByCode(ctx, orderCode);
    const notices: (string | null)[] = [];
    if (checkout.state === 'open' || checkout.state === 'canceled') {
      if (payment.status === 'canceled') checkout.state = 'canceled';
      if (payment.status === 'paid') notices.push(await this.book(ctx, checkout, order, payment));
    }
    notices.push(noticeOfPayment(payment), ...(await this.bookRefunds(ctx, checkout, refunds)));
    await this.tell(ctx, checkout, order, notices.filter(Boolean).join(' '));
    // Events after the service's response still need a read.
    if (checkout.due === read.due) checkout.due = 0;
    return checkouts.save(checkout);
  }

  /** Adds the money to the order as a settled payment and returns a notice for the merchant, or null. */
  private async book(
    ctx: RequestContext,
    checkout: CardCheckout,
    order: Order | undefined,
    payment: MerchantPayment,
  ): Promise<string | null> {
    const { checkoutId, currencyCode } = checkout;
    const paid = `Paid ${payment.amount} ${payment.currency}`;
    const problem = await this.addPayment(ctx, checkout, order, payment);
    if (problem !== null || order === undefined) {
      checkout.state = 'review';
      return `${paid}, but not booked: ${problem}. Check it, then refund it in the dashboard or fulfill the order by hand.`;
    }
    checkout.state = 'booked';
    Logger.info(`order ${order.code}: ${paid} by payment ${checkoutId}`, LOGGER_CONTEXT);
    const after = await this.orders.findOne(ctx, order.id, ['payments', 'payments.refunds']);
    const missing = after === undefined ? 0 : after.totalWithTax - totalCoveredByPayments(after);
    if (missing > 0)
      return `${paid}, but the order has changed: ${decimal(missing)} ${currencyCode} are missing.`;
    if (missing < 0)
      return `${paid}, but the order has changed: ${decimal(-missing)} ${currencyCode} are too much.`;
    return null;
  }

  /** Adds the payment and returns why the order cannot accept it, or null. */
  private async addPayment(
    ctx: RequestContext,
    checkout: CardCheckout,
    order: Order | undefined,
    payment: MerchantPayment,
  ): Promise<string | null> {
    const { checkoutId: transactionId, amount, currencyCode, method } = checkout;
    if (order === undefined) return 'its order no longer exists';
    const isSame =
      payment.amount === decimal(amount) &&
      payment.currency === currencyCode &&
      payment.reference === order.code;
    if (!isSame || order.currencyCode !== currencyCode) return 'payment and order do not agree';
    if (order.state === 'AddingItems') {
      const moved = await this.orders.transitionToState(ctx, order.id, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) return moved.transitionError;
    }
    const { value_coin: usdc, txid_in: deposit, txid_out: release } = payment;
    const input = { method, metadata: { amount, transactionId, usdc, deposit, release } };
    const add = () => this.orders.addPaymentToOrder(ctx, order.id, input);
    let result = await add();
    // Vendure has removed the coupon, but the customer has paid. The notice says what is missing.
    if (isGraphQlErrorResult(result) && result.__typename === 'CouponRemovedDuringCheckoutError')
      result = await add();
    return isGraphQlErrorResult(result)
      ? `the order is in the state ${order.state} (${result.errorCode})`
      : null;
  }

  /** Settles refunds whose transfer is final and fails those that ended without one. */
  private async bookRefunds(
    ctx: RequestContext,
    { checkoutId }: CardCheckout,
    refunds: readonly ServiceRefund[],
  ) {
    const pending = refunds.length === 0 ? [] : await this.pendingRefunds(ctx, checkoutId);
    const notices: (string | null)[] = [];
    for (const { id, transactionId } of pending) {
      const refund = refunds.find(({ refund_id }) => refund_id === transactionId);
      if (refund === undefined) continue;
      if (refund.status === 'paid') await this.orders.transitionRefundToState(ctx, id, 'Settled');
      if (refund.status === 'canceled' || refund.status === 'expired')
        await this.orders.transitionRefundToState(ctx, id, 'Failed');
      notices.push(noticeOfRefund(refund));
    }
    return notices;
  }

  private pendingRefunds(ctx: RequestContext, checkoutId: string): Promise<Refund[]> {
    const where = { state: 'Pending', payment: { transactionId: checkoutId } } as const;
    return this.connection.getRepository(ctx, Refund).findBy(where);
  }

  /** Notifies the merchant once, in the log and in the order's history, hidden from customers. */
  private async tell(ctx: RequestContext, checkout: CardCheckout, order: Order | undefined, text: string) {
    if (text === '' || text === checkout.notice) return;
    checkout.notice = text;
    Logger.warn(`order ${checkout.orderCode}, payment ${checkout.checkoutId}: ${text}`, LOGGER_CONTEXT);
    if (order !== undefined)
      await this.orders.addNoteToOrder(ctx, noteOf(order, `${text} Payment ${checkout.checkoutId}.`));
  }

  /** Notifies the merchant of an unexpected failure, such as a disabled payment method. The next run tries again. */
  private async tellFailure(ctx: RequestContext, checkout: CardCheckout, error: unknown): Promise<void> {
    const order = await this.orders.findOneByCode(ctx, checkout.orderCode);
    await this.tell(
      ctx,
      checkout,
      order,
      `The payment could not be brought into the order, and is tried again: ${error}`,
    );
    await this.connection
      .getRepository(ctx, CardCheckout)
      .update({ id: checkout.id }, { notice: checkout.notice });
  }

  /** Returns a context with the channel, language and currency of the checkout. */
  private async contextOf({ channelId, languageCode, currencyCode }: CardCheckout): Promise<RequestContext> {
    const channel = await this.channels.findOne(RequestContext.empty(), channelId);
    if (channel === undefined) throw new Error(`channel ${channelId} no longer exists`);
    return this.contexts.create({
      apiType: 'custom',
      channelOrToken: channel,
      languageCode: languageCode as LanguageCode,
      currencyCode: currencyCode as Order['currencyCode'],
    });
  }

  private rows() {
    return this.connection.rawConnection.getRepository(CardCheckout);
  }
}
