<?php

declare(strict_types=1);

namespace CardCheckout;

/** The deposit address could pay another wallet. Do not redirect customers to it. */
final class DepositAddressException extends CheckoutException
{
}
