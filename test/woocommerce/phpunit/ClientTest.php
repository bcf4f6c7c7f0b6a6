<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class ClientTest extends TestCase
{
    private const PAYMENT = ['payment_id' => 'a', 'ipn_token' => 'b', 'checkout_url' => 'c', 'amount' => '1', 'polygon_address_in' => 'd'];

    private static function client(): Card_Checkout_Client
    {
        return new Card_Checkout_Client('https://pay.example', 'service_live_key');
    }

    private static function answer(int $status, mixed $body): void
    {
        [Http::$status, Http::$body] = [$status, is_string($body) ? $body : (string) json_encode($body)];
    }

    public function testFollowsNoRedirectAndBoundsTimeAndLength(): void
    {
        self::answer(200, self::PAYMENT);
        self::client()->create(['amount' => '1.00'], 'key-1');
        $this->assertSame(0, Http::$arguments['redirection']);
        $this->assertLessThanOrEqual(8, Http::$arguments['timeout']);
        $this->assertSame(65_536, Http::$arguments['limit_response_size']);
        $this->assertSame('key-1', Http::$arguments['headers']['Idempotency-Key']);
    }

    public function testSendsTheKeyToNoPublicAddress(): void
    {
        self::answer(200, []);
        self::client()->read_publication();
        $this->assertArrayNotHasKey('X-API-Key', Http::$arguments['headers']);
        self::client()->read_status('a/../b');
        $this->assertSame('https://pay.example/api/v1/payment-status?payment_id=a%2F..%2Fb', Http::$url);
        $this->assertSame('service_live_key', Http::$arguments['headers']['X-API-Key']);
    }

    public function testTakesNothingForAnAnswerThatIsNone(): void
    {
        $cut = json_encode(self::PAYMENT + ['padding' => str_repeat('x', 70_000)]);
        $answers = [[302, self::PAYMENT], [200, 'no JSON'], [200, '"text"'], [200, $cut], [200, []], [500, self::PAYMENT]];
        foreach ($answers as $index => $one) {
            self::answer(...$one);
            try {
                self::client()->create([], 'key');
                $this->fail("answer $index is accepted");
            } catch (Card_Checkout_Exception $exception) {
                $this->assertFalse($exception->is_refusal(), "answer $index may hide a payment");
                $this->assertStringNotContainsString('service_live_key', $exception->getMessage());
            }
        }
    }

    public function testTellsARefusalFromAFailure(): void
    {
        foreach ([400 => true, 403 => true, 409 => true, 500 => false, 502 => false, 302 => false] as $status => $is_refusal) {
            self::answer($status, ['error' => 'Because.']);
            try {
                self::client()->open_refund('a', ['amount' => '1'], 'key');
                $this->fail("$status is accepted");
            } catch (Card_Checkout_Exception $exception) {
                $this->assertSame($is_refusal, $exception->is_refusal(), "$status");
                $this->assertStringContainsString('Because.', $exception->getMessage());
            }
        }
    }
}
