<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** 409: the state does not allow the request, or the idempotency key was used with other parameters. */
final class ConflictException extends ApiException
{
}
