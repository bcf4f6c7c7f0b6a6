import { type DeepPartial, EntityId, type ID, Money, VendureEntity } from '@vendure/core';
import { Column, Entity, Unique } from 'typeorm';

/**
 * `open`: can be paid. `booked`: its money is a settled payment of the order. `canceled`: nothing was paid. `review`:
 * paid, but the order could not take it, and a person decides.
 */
export type CheckoutState = 'open' | 'booked' | 'canceled' | 'review';

/** Checkout of an order. No field is secret. An order's successive checkouts are numbered by `attempt`. */
@Entity()
@Unique(['orderCode', 'attempt'])
export class CardCheckout extends VendureEntity {
  constructor(input?: DeepPartial<CardCheckout>) {
    super(input);
  }

  /** Id of the payment in the service. */
  @Column({ unique: true })
  checkoutId: string;

  /** Not a relation: Vendure deletes an order that it merges into another one, and the money must stay known. */
  @Column()
  orderCode: string;

  @Column()
  attempt: number;

  /** Fingerprint of order, attempt and request: a changed order has another one. */
  @Column()
  idempotencyKey: string;

  @Column('text')
  url: string;

  @Money()
  amount: number;

  @Column('varchar')
  currencyCode: string;

  @Column('varchar', { default: 'open' })
  state: CheckoutState;

  /** Code of the payment method. */
  @Column()
  method: string;

  @EntityId()
  channelId: ID;

  @Column('varchar')
  languageCode: string;

  /** Number of events since the payment was last read from the service. */
  @Column({ default: 0 })
  due: number;

  /** Last notice to the merchant, so that none is repeated. */
  @Column('text', { nullable: true })
  notice: string | null;
}
