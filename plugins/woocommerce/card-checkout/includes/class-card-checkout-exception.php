<?php

declare(strict_types=1);

defined('ABSPATH') || exit;

// Base of all exceptions of plugin and library. The message is for merchants and the log, never for customers.
class_alias(Card_Checkout_Library\CheckoutException::class, 'Card_Checkout_Exception');
