<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** 404: the account has no such payment or refund. */
final class NotFoundException extends ApiException
{
}
