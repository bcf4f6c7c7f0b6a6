<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** The deposit address could pay another wallet. Do not redirect customers to it. */
final class DepositAddressException extends CheckoutException
{
}
