<?php

declare(strict_types=1);

namespace CardCheckout;

/** No response, or none from a card-checkout service. The request may have been executed. */
final class ConnectionException extends CheckoutException
{
}
