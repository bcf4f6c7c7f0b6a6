<?php

declare(strict_types=1);

namespace Card_Checkout_Library;

defined('ABSPATH') || exit;

/** Keccak-256 as in Ethereum (padding 0x01, unlike PHP's sha3-256). Needs 64-bit integers. */
final class Keccak
{
    private const RATE_BYTES = 136;

    private const ROUND_CONSTANTS = [
        0x0000000000000001, 0x0000000000008082, -0x7fffffffffff7f76, -0x7fffffff7fff8000,
        0x000000000000808b, 0x0000000080000001, -0x7fffffff7fff7f7f, -0x7fffffffffff7ff7,
        0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
        0x000000008000808b, -0x7fffffffffffff75, -0x7fffffffffff7f77, -0x7fffffffffff7ffd,
        -0x7fffffffffff7ffe, -0x7fffffffffffff80, 0x000000000000800a, -0x7fffffff7ffffff6,
        -0x7fffffff7fff7f7f, -0x7fffffffffff7f80, 0x0000000080000001, -0x7fffffff7fff7ff8,
    ];

    /** Rotation of lane (x, y), at index x + 5y. */
    private const ROTATIONS = [
        0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
    ];

    /** Returns the 32 bytes of the hash. */
    public static function hash(string $bytes): string
    {
        $padding = self::RATE_BYTES - strlen($bytes) % self::RATE_BYTES;
        $padded = $bytes . str_repeat("\0", $padding);
        $padded[strlen($bytes)] = "\x01";
        $last = strlen($padded) - 1;
        $padded[$last] = $padded[$last] | "\x80";

        $state = array_fill(0, 25, 0);
        foreach (str_split($padded, self::RATE_BYTES) as $block) {
            foreach (array_values(unpack('P*', $block)) as $lane => $value) {
                $state[$lane] ^= $value;
            }
            $state = self::permute($state);
        }
        return pack('P4', $state[0], $state[1], $state[2], $state[3]);
    }

    /**
     * @param list<int> $a 25 lanes, at index x + 5y
     * @return list<int>
     */
    private static function permute(array $a): array
    {
        foreach (self::ROUND_CONSTANTS as $constant) {
            // θ
            $column = [];
            for ($x = 0; $x < 5; $x++) {
                $column[$x] = $a[$x] ^ $a[$x + 5] ^ $a[$x + 10] ^ $a[$x + 15] ^ $a[$x + 20];
            }
            for ($x = 0; $x < 5; $x++) {
                $change = $column[($x + 4) % 5] ^ self::rotate($column[($x + 1) % 5], 1);
                for ($y = 0; $y < 25; $y += 5) {
                    $a[$x + $y] ^= $change;
                }
            }
            // ρ and π
            $b = [];
            for ($x = 0; $x < 5; $x++) {
                for ($y = 0; $y < 5; $y++) {
                    $b[$y + 5 * ((2 * $x + 3 * $y) % 5)] = self::rotate($a[$x + 5 * $y], self::ROTATIONS[$x + 5 * $y]);
                }
            }
            // χ
            for ($x = 0; $x < 5; $x++) {
                for ($y = 0; $y < 25; $y += 5) {
                    $a[$x + $y] = $b[$x + $y] ^ (~$b[($x + 1) % 5 + $y] & $b[($x + 2) % 5 + $y]);
                }
            }
            // ι
            $a[0] ^= $constant;
        }
        return $a;
    }

    private static function rotate(int $lane, int $bits): int
    {
        if ($bits === 0) {
            return $lane;
        }
        // Masks copies of the sign bit, which PHP shifts in from the left.
        return ($lane << $bits) | (($lane >> (64 - $bits)) & ((1 << $bits) - 1));
    }
}
