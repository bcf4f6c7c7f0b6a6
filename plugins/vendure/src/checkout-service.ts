import { ApiError, type Client, type MerchantCheckoutRequest } from '@card-checkout/sdk';
import { Inject, Injectable } from '@nestjs/common';
import {
  ActiveOrderService,
  type CreateRefundResult,
  type Order,
  OrderService,
  type Payment,
  PaymentMethodService,
  type RequestContext,
  ShippingMethodService,
  TransactionalConnection,
  totalCoveredByPayments,
} from '@vendure/core';
import { decimal, isPayable, itemsOf, keyOf, type OrderLine } from './amounts.ts';
import { CardCheckout } from './card-checkout-entity.ts';
import { type CardCheckoutOptions, CLIENT, CODE, noteOf, OPTIONS } from './options.ts';
import { SettlementService } from './settlement-service.ts';

const MAXIMUM_REASON_LENGTH = 200;
const orderRelations: Parameters<OrderService['findOne']>[2] = [
  'customer',
  'lines.productVariant',
  'payments',
  'payments.refunds',
  'shippingLines',
  'surcharges',
];
/** Plain email addresses, which the service requires. Others are omitted, so that they do not fail the order. */
const plainEmail = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9.-]{1,180}$/i;

/** Reasons for refusing a checkout. Shops add translations under the same keys. */
export const refusals = {
  CARD_CHECKOUT_NO_ORDER: 'There is no active order in the state ArrangingPayment.',
  CARD_CHECKOUT_NOT_PAYABLE: 'The order cannot be paid by card checkout.',
  CARD_CHECKOUT_JUST_PAID: 'A payment of the order has just arrived. Read the order again.',
  CARD_CHECKOUT_MONEY_ARRIVED: 'Money has arrived for the order as it was before. Wait, or ask the shop.',
  CARD_CHECKOUT_CHANGED: 'The order changed meanwhile. Try again.',
  CARD_CHECKOUT_UNAVAILABLE: 'The checkout cannot be created now. Try again later.',
} as const;

export class CheckoutRefusal extends Error {
  readonly key: keyof typeof refusals;
  constructor(key: keyof typeof refusals) {
    super(refusals[key]);
    this.key = key;
  }
}

interface RefundOfOrder {
  readonly order: Order;
  readonly payment: Payment;
  readonly amount: number;
  readonly reason: string | null;
}

/** Service that creates checkouts and opens refunds. */
@Injectable()
export class CheckoutService {
  constructor(
    @Inject(OPTIONS) private readonly options: CardCheckoutOptions,
    @Inject(CLIENT) private readonly client: Client,
    private readonly settlement: SettlementService,
    private readonly connection: TransactionalConnection,
    private readonly orders: OrderService,
    private readonly activeOrders: ActiveOrderService,
    private readonly methods: PaymentMethodService,
    private readonly shippingMethods: ShippingMethodService,
  ) {}

  /**
   * Returns the URL where the customer pays the active order, which stays the same until the order changes. Neither a
   * double click nor a lost response creates a second payment: the idempotency key combines order, attempt and request.
   *
   * @throws CheckoutRefusal
   */
  async checkoutUrl(ctx: RequestContext): Promise<string> {
    const order = await this.arrangingOrder(ctx);
    const amount = order.totalWithTax - totalCoveredByPayments(order);
    const method = await this.methodFor(ctx, order);
    if (method === undefined || !isPayable(amount, order.currencyCode))
      throw new CheckoutRefusal('CARD_CHECKOUT_NOT_PAYABLE');
    const request = await this.requestFor(ctx, order, amount);
    const checkouts = this.connection.getRepository(ctx, CardCheckout);
    const where = { orderCode: order.code };
    let last = await checkouts.findOne({ where, order: { attempt: 'DESC' } });
    if (last?.state === 'open') {
      last = (await this.settlement.confirm(last.checkoutId)) ?? last;
      if (last.state === 'booked' || last.state === 'review')
        throw new CheckoutRefusal('CARD_CHECKOUT_JUST_PAID');
      if (last.state === 'open') {
        if (last.idempotencyKey === keyOf(order.code, last.attempt, request)) return last.url;
        await this.replace(last);
      }
    }
    const attempt = (last?.attempt ?? 0) + 1;
    const idempotencyKey = keyOf(order.code, attempt, request);
    const created = await this.client.merchantCheckouts.create(request, { idempotencyKey });
    const { payment_id: checkoutId, checkout_url: url } = created;
    const { currencyCode } = order;
    const { channelId, languageCode } = ctx;
    const row = { ...where, attempt, idempotencyKey, checkoutId, url, amount, currencyCode };
    const values = { ...row, method, channelId, languageCode };
    await checkouts.createQueryBuilder().insert().values(values).orIgnore().execute();
    const saved = await checkouts.findOneByOrFail({ ...where, attempt });
    if (saved.checkoutId === checkoutId) return url;
    await this.client.payments.cancel(checkoutId);
    throw new CheckoutRefusal('CARD_CHECKOUT_CHANGED');
  }

  /** Opens a refund. The customer names a wallet, and the shop's staff confirm it and send the USDC. */
  async openRefund(
    ctx: RequestContext,
    { order, payment, amount, reason }: RefundOfOrder,
  ): Promise<CreateRefundResult> {
    const charge = decimal(amount);
    const note = (text: string) => this.orders.addNoteToOrder(ctx, noteOf(order, text));
    const request = {
      charge_amount: charge,
      reason: `Order ${order.code}. ${reason ?? ''}`.trim().slice(0, MAXIMUM_REASON_LENGTH),
    };
    const idempotencyKey = keyOf(order.code, payment.transactionId, payment.refunds.length, request);
    try {
      const refund = await this.client.refunds.create(payment.transactionId, request, { idempotencyKey });
      await note(
        `Refund ${refund.refund_id} over ${charge} ${order.currencyCode} is open: ${refund.amount} USDC. Nothing is sent yet. ` +
          `Give the customer this link to name a wallet: ${refund.address_url}`,
      );
      return { state: 'Pending', transactionId: refund.refund_id };
    } catch (error) {
      if (!(error instanceof ApiError) || error.isTemporary) throw error;
      await note(`The refund over ${charge} ${order.currencyCode} was refused: ${error.message}`);
      return { state: 'Failed' };
    }
  }

  private async arrangingOrder(ctx: RequestContext): Promise<Order> {
    const active = await this.activeOrders.getActiveOrder(ctx, undefined);
    const order = active && (await this.orders.findOne(ctx, active.id, orderRelations));
    if (order?.state === 'ArrangingPayment') return order;
    throw new CheckoutRefusal('CARD_CHECKOUT_NO_ORDER');
  }

  /** Returns the code of this channel's eligible payment method. */
  private async methodFor(ctx: RequestContext, order: Order): Promise<string | undefined> {
    const quotes = await this.methods.getEligiblePaymentMethods(ctx, order);
    const eligible = new Set(quotes.filter(({ isEligible }) => isEligible).map(({ code }) => code));
    const active = await this.methods.getActivePaymentMethods(ctx);
    return active.find(({ code, handler }) => handler.code === CODE && eligible.has(code))?.code;
  }

  private async requestFor(
    ctx: RequestContext,
    order: Order,
    amount: number,
  ): Promise<MerchantCheckoutRequest> {
    const { callback = null, returnUrl, cancelUrl, payoutAddress = null } = this.options;
    const email = order.customer?.emailAddress ?? '';
    const urlOf = (template: string | undefined) =>
      template
        ?.replaceAll('{order_code}', encodeURIComponent(order.code))
        .replaceAll('{channel}', encodeURIComponent(ctx.channel.code))
        .replaceAll('{language}', ctx.languageCode) ?? null;
    return {
      amount: decimal(amount),
      currency: order.currencyCode as NonNullable<MerchantCheckoutRequest['currency']>,
      reference: order.code,
      metadata: { channel: ctx.channel.code },
      items: itemsOf(await this.linesOf(ctx, order), amount),
      email: plainEmail.test(email) ? email : null,
      return_url: urlOf(returnUrl),
      cancel_url: urlOf(cancelUrl),
      address: payoutAddress,
      callback,
    };
  }

  private async linesOf(ctx: RequestContext, order: Order): Promise<OrderLine[]> {
    const lines = order.lines.map((line): OrderLine => {
      return [line.productVariant.name, line.quantity, line.proratedLinePriceWithTax];
    });
    for (const surcharge of order.surcharges) lines.push([surcharge.description, 1, surcharge.priceWithTax]);
    for (const { shippingMethodId, discountedPriceWithTax } of order.shippingLines) {
      const method =
        shippingMethodId && (await this.shippingMethods.findOne(ctx, shippingMethodId, true, [], false));
      lines.push([method ? method.name : undefined, 1, discountedPriceWithTax]);
    }
    return lines;
  }

  /**
   * Cancels the checkout of an order that has changed. A checkout stays open while the customer is paying, and its
   * money is booked, too.
   */
  private async replace({ checkoutId }: CardCheckout): Promise<void> {
    try {
      await this.client.payments.cancel(checkoutId);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      const { status, value_coin: received } = await this.client.payments.get(checkoutId);
      if (status !== 'canceled' && Number(received) > 0)
        throw new CheckoutRefusal('CARD_CHECKOUT_MONEY_ARRIVED');
    }
    await this.settlement.confirm(checkoutId);
  }
}
