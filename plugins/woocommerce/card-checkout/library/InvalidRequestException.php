<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Request that would fail again: 400, or another refusal without its own class. */
final class InvalidRequestException extends ApiException
{
}
