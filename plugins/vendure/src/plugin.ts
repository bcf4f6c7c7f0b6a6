import { createClient } from '@card-checkout/sdk';
import type { OnApplicationBootstrap } from '@nestjs/common';
import {
  ConfigService,
  I18nService,
  PluginCommonModule,
  type RuntimeVendureConfig,
  ScheduledTask,
  type Type,
  VendurePlugin,
} from '@vendure/core';
import { raw } from 'express';
import { CardCheckout } from './card-checkout-entity.ts';
import { CheckoutService, refusals } from './checkout-service.ts';
import { type CardCheckoutOptions, CLIENT, OPTIONS, requireOptions } from './options.ts';
import { eligibilityChecker, paymentHandler, pendingRefunds } from './payment-handler.ts';
import { SettlementService } from './settlement-service.ts';
import { ShopResolver, shopSchema } from './shop-api.ts';
import { WEBHOOK_ROUTE, WebhookController } from './webhook-controller.ts';

export type { CardCheckoutOptions };

/** Task that catches up on missed webhooks. */
const followTask = new ScheduledTask({
  id: 'card-checkout-follow-events',
  description: 'Reads the events of the card-checkout account, and settles what a webhook did not.',
  schedule: '* * * * *',
  timeout: '10m',
  execute: ({ injector }) => injector.get(SettlementService).follow(),
});

const createServiceClient = ({ apiKey, url, allowInsecureHttp = false }: CardCheckoutOptions) =>
  createClient({ apiKey, baseUrl: url, allowInsecureHttp });

function configure(config: RuntimeVendureConfig): RuntimeVendureConfig {
  const { paymentOptions: payments } = config;
  payments.paymentMethodHandlers.push(paymentHandler);
  payments.paymentMethodEligibilityCheckers = [
    ...(payments.paymentMethodEligibilityCheckers ?? []),
    eligibilityChecker,
  ];
  payments.refundProcess = [...(payments.refundProcess ?? []), pendingRefunds];
  config.schedulerOptions.tasks.push(followTask);
  config.apiOptions.middleware.push({
    route: WEBHOOK_ROUTE,
    handler: raw({ type: () => true, limit: '64kb' }),
    beforeListen: true,
  });
  config.settingsStoreFields = {
    ...config.settingsStoreFields,
    cardCheckout: [{ name: 'eventNumber', readonly: true }],
  };
  return config;
}

@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.7.3',
  entities: [CardCheckout],
  controllers: [WebhookController],
  shopApiExtensions: { schema: shopSchema, resolvers: [ShopResolver] },
  providers: [
    CheckoutService,
    SettlementService,
    { provide: OPTIONS, useFactory: () => CardCheckoutPlugin.options },
    { provide: CLIENT, useFactory: createServiceClient, inject: [OPTIONS] },
  ],
  configuration: configure,
})
export class CardCheckoutPlugin implements OnApplicationBootstrap {
  static options: CardCheckoutOptions;

  constructor(
    private readonly config: ConfigService,
    private readonly i18n: I18nService,
  ) {}

  static init(options: CardCheckoutOptions): Type<CardCheckoutPlugin> {
    CardCheckoutPlugin.options = requireOptions(options);
    return CardCheckoutPlugin;
  }

  onApplicationBootstrap(): void {
    this.i18n.addTranslation('en', { errorResult: refusals });
    if (this.config.entityOptions.moneyStrategy.precision !== 2)
      throw new Error('CardCheckoutPlugin needs a MoneyStrategy with two decimals.');
  }
}
