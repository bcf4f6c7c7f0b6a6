<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class WebhookTest extends TestCase
{
    public function testAcceptsTheSignatureOfTheExactBytesAndNoOther(): void
    {
        $body = "{ \"event\":\"payment.paid\",\t\"note\":\"Grüße \\u00fc\" }\n";
        $signature = hash_hmac('sha256', $body, 'ipn_test');
        $this->assertTrue(Card_Checkout_Webhook::is_genuine($body, $signature, 'ipn_test'));
        // The example in the documentation.
        $example = '9368b00c91589141153a0cba79d3b0a78de0042a2fb7013eb3d4783ebe84685b';
        $this->assertTrue(Card_Checkout_Webhook::is_genuine('{"event":"payment.paid"}', $example, 'ipn_test'));
        $this->assertFalse(Card_Checkout_Webhook::is_genuine("$body ", $signature, 'ipn_test'));
        $this->assertFalse(Card_Checkout_Webhook::is_genuine($body, $signature, 'ipn_other'));
        $this->assertFalse(Card_Checkout_Webhook::is_genuine($body, strtoupper($signature), 'ipn_test'));
        $this->assertFalse(Card_Checkout_Webhook::is_genuine($body, '', 'ipn_test'));
        // An order without a token verifies nothing, also what is signed with an empty one.
        $this->assertFalse(Card_Checkout_Webhook::is_genuine($body, hash_hmac('sha256', $body, ''), ''));
    }

    public function testReadsABodyUpToItsLimitAndOneByteMore(): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'body');
        foreach ([0 => 0, 10 => 10, 65_536 => 65_536, 65_537 => 65_537, 1_000_000 => 65_537] as $length => $read) {
            file_put_contents($file, str_repeat('x', $length));
            $this->assertSame($read, strlen(Card_Checkout_Webhook::read_body($file)), "$length");
        }
        unlink($file);
    }
}
