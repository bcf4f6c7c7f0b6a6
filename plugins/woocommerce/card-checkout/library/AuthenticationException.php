<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** 401 or 403: the API key is unknown, was revoked or lacks the scope. */
final class AuthenticationException extends ApiException
{
}
