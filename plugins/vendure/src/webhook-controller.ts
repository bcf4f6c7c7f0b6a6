import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import { Logger } from '@vendure/core';
import type { Request, Response } from 'express';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { type CardCheckoutOptions, LOGGER_CONTEXT, OPTIONS } from './options.ts';
import { SettlementService } from './settlement-service.ts';

/** Route whose body the plugin's middleware leaves unparsed. */
export const WEBHOOK_ROUTE = '/card-checkout/webhook';

@Controller()
export class WebhookController {
  constructor(
    private readonly settlement: SettlementService,
    @Inject(OPTIONS) private readonly options: CardCheckoutOptions,
  ) {}

  /** Verifies the signature of the raw body and reads the named payment from the service. */
  @Post(WEBHOOK_ROUTE)
  async receive(@Req() request: Request, @Res() response: Response): Promise<void> {
    let event: { readonly paymentId?: unknown };
    try {
      const rawBody = Buffer.isBuffer(request.body) ? request.body : '';
      const headers = request.headers as Record<string, string>;
      event = new Webhook(this.options.webhookSecret).verify(rawBody, headers) as typeof event;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
      response.status(401).end();
      return;
    }
    try {
      await this.settlement.report([String(event.paymentId)]);
      await this.settlement.confirm(String(event.paymentId));
      response.status(204).end();
    } catch (error) {
      // The event is not repeated, but the scheduled task reads the payment within a minute.
      Logger.error(`webhook of ${event.paymentId}: ${error}`, LOGGER_CONTEXT);
      response.status(500).end();
    }
  }
}
