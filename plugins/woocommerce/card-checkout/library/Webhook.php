<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Webhooks of the service. Each event is sent once and signed with the payment's `ipn_token`. */
final class Webhook
{
    public const MAXIMUM_BODY_BYTES = 65_536;
    public const SIGNATURE_HEADER = 'X-Service-Signature';

    /** Returns the raw request body, up to one byte beyond the limit, which makes `verify` refuse it. */
    public static function readBody(string $file = 'php://input'): string
    {
        return (string) file_get_contents($file, false, null, 0, self::MAXIMUM_BODY_BYTES + 1);
    }

    /** Returns the payment id in an unverified body, to find its order and token; null for any other body. */
    public static function paymentIdOf(string $rawBody): ?string
    {
        $event = strlen($rawBody) > self::MAXIMUM_BODY_BYTES ? null : json_decode($rawBody, true, 8);
        $id = is_array($event) ? $event['paymentId'] ?? null : null;
        return is_string($id) && preg_match('/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/D', $id) === 1 ? $id : null;
    }

    /**
     * Verifies a webhook. Afterwards, read the payment's status from the service, fulfill the order once, and respond
     * with 2xx within ten seconds.
     *
     * @param string $rawBody body before any parsing
     * @param string $signature value of the header; '' if absent
     * @param string $ipnToken token saved with the order
     * @param int $toleranceSeconds maximum age; older events are replays
     * @return array<string, mixed> the event
     * @throws WebhookException
     */
    public static function verify(
        string $rawBody,
        string $signature,
        #[\SensitiveParameter] string $ipnToken,
        int $toleranceSeconds = 300,
        ?int $now = null
    ): array {
        if (strlen($rawBody) > self::MAXIMUM_BODY_BYTES || !self::isGenuine($rawBody, $signature, $ipnToken)) {
            throw new WebhookException('the signature is wrong', 401);
        }
        $event = json_decode($rawBody, true, 8);
        $timestamp = is_array($event) ? $event['timestamp'] ?? null : null;
        if (self::paymentIdOf($rawBody) === null || !is_string($event['event'] ?? null) || !is_numeric($timestamp)) {
            throw new WebhookException('the body is not an event', 400);
        }
        if (abs(($now ?? time()) - $timestamp) > $toleranceSeconds) {
            throw new WebhookException('the event is old, or the clock of one of the servers is wrong', 401);
        }
        return $event;
    }

    /** Compares signatures in constant time. An empty token matches no signature. */
    public static function isGenuine(string $rawBody, string $signature, #[\SensitiveParameter] string $ipnToken): bool
    {
        return $ipnToken !== '' && hash_equals(self::sign($rawBody, $ipnToken), $signature);
    }

    /** Signs a body, for tests of a receiver. */
    public static function sign(string $rawBody, #[\SensitiveParameter] string $ipnToken): string
    {
        return hash_hmac('sha256', $rawBody, $ipnToken);
    }
}
