<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** A webhook that must not be processed. The code is the status to answer with, 400 or 401. */
final class WebhookException extends CheckoutException
{
}
