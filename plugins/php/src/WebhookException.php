<?php

declare(strict_types=1);

namespace CardCheckout;

/** Webhook that must not be processed. The code is the status to respond with, 400 or 401. */
final class WebhookException extends CheckoutException
{
}
