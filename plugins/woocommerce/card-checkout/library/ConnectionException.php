<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** No response, or none from a card-checkout service. The request may have been executed. */
final class ConnectionException extends CheckoutException
{
}
