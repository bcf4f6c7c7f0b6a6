<?php

declare(strict_types=1);

namespace CardCheckout;

/** 401 or 403: the API key is unknown, was revoked or lacks the scope. */
final class AuthenticationException extends ApiException
{
}
