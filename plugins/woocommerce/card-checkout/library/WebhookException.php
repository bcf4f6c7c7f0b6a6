<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Webhook that must not be processed. The code is the status to respond with, 400 or 401. */
final class WebhookException extends CheckoutException
{
}
