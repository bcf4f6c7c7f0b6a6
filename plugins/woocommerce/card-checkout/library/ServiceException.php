<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** A server error. The request may have been executed. */
final class ServiceException extends ApiException
{
}
