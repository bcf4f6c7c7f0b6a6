<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** The deposit address could pay another wallet: redirect no customer to it. */
final class DepositAddressException extends CheckoutException
{
}
