import { type DeepPartial, EntityId, type ID, Money, VendureEntity } from '@vendure/core';
import { Column, Entity, Unique } from 'typeorm';

/**
 * State of a checkout. `open`: can be paid. `booked`: a settled payment of the order. `canceled`: nothing was paid.
 * `review`: paid, but the order could not accept it, so a person decides.
 */
export type CheckoutState = 'open' | 'booked' | 'canceled' | 'review';

/** Checkout of an order, without secrets. `attempt` numbers the successive checkouts of an order. */
@Entity()
@Unique(['orderCode', 'attempt'])
export class CardCheckout extends VendureEntity {
  constructor(input?: DeepPartial<CardCheckout>) {
    super(input);
  }

  /** Payment id at the service. */
  @Column({ unique: true })
  checkoutId: string;

  /** Not a relation, because Vendure deletes merged orders and their money must stay traceable. */
  @Column()
  orderCode: string;

  @Column()
  attempt: number;

  /** Fingerprint of order, attempt and request, so that a changed order has another key. */
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

  /** Number of events since the last read of the payment. */
  @Column({ default: 0 })
  due: number;

  /** Last notice to the merchant, to avoid repeating it. */
  @Column('text', { nullable: true })
  notice: string | null;
}
