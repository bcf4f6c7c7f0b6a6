import { CardCheckoutError as ServiceError } from '@card-checkout/sdk';
import { Mutation, Resolver } from '@nestjs/graphql';
import { Allow, Ctx, ErrorResult, Logger, Permission, type RequestContext } from '@vendure/core';
import gql from 'graphql-tag';
import { CheckoutRefusal, CheckoutService } from './checkout-service.ts';
import { LOGGER_CONTEXT } from './options.ts';

export const shopSchema = gql`
  type CardCheckout {
    "Page on which the customer pays."
    url: String!
  }

  type CardCheckoutError implements ErrorResult {
    errorCode: ErrorCode!
    message: String!
  }

  union CreateCardCheckoutResult = CardCheckout | CardCheckoutError

  extend type Mutation {
    "Creates the checkout of the active order, which is in the state ArrangingPayment. Returns the same one until the order changes."
    createCardCheckout: CreateCardCheckoutResult!
  }
`;

/** Error whose message is a key that Vendure translates. */
class CardCheckoutError extends ErrorResult {
  override readonly __typename = 'CardCheckoutError';
  override readonly errorCode = 'CARD_CHECKOUT_ERROR';
  constructor(override readonly message: string) {
    super();
  }
}

@Resolver()
export class ShopResolver {
  constructor(private readonly checkouts: CheckoutService) {}

  @Mutation()
  @Allow(Permission.Owner)
  async createCardCheckout(@Ctx() ctx: RequestContext) {
    try {
      return { __typename: 'CardCheckout', url: await this.checkouts.checkoutUrl(ctx) };
    } catch (error) {
      if (error instanceof CheckoutRefusal) return new CardCheckoutError(error.key);
      if (!(error instanceof ServiceError)) throw error;
      Logger.error(`no checkout was created: ${error.message}`, LOGGER_CONTEXT);
      return new CardCheckoutError('CARD_CHECKOUT_UNAVAILABLE');
    }
  }
}
