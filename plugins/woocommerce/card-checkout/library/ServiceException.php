<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Server error. The request may have been executed. */
final class ServiceException extends ApiException
{
}
