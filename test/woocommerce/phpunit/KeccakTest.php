<?php

declare(strict_types=1);

use PHPUnit\Framework\TestCase;

final class KeccakTest extends TestCase
{
    public function testAgreesWithKnownHashes(): void
    {
        $empty = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
        $this->assertSame($empty, bin2hex(Card_Checkout_Keccak::hash('')));
        $abc = '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45';
        $this->assertSame($abc, bin2hex(Card_Checkout_Keccak::hash('abc')));
    }

    public function testAgreesWithTheServiceForEveryLengthAroundItsBlocks(): void
    {
        $vectors = vectors()['keccak'];
        $this->assertGreaterThan(270, count($vectors));
        foreach ($vectors as ['bytes' => $bytes, 'hash' => $hash]) {
            $this->assertSame($hash, bin2hex(Card_Checkout_Keccak::hash((string) hex2bin($bytes))), $bytes);
        }
    }
}
