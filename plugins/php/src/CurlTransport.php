<?php

declare(strict_types=1);

namespace CardCheckout;

/** Transport that uses curl. */
final class CurlTransport implements Transport
{
    private const MAXIMUM_ANSWER_BYTES = 1_048_576;

    public function __construct(
        private readonly float $timeoutSeconds = 10.0,
        private readonly float $connectTimeoutSeconds = 5.0
    ) {
        if ($timeoutSeconds <= 0 || $connectTimeoutSeconds <= 0) {
            throw new \InvalidArgumentException('a timeout must be above 0 seconds');
        }
    }

    public function send(string $method, string $url, array $headers, ?string $body): Answer
    {
        $lines = [];
        foreach ($headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        $content = '';
        $retryAfter = null;
        $request = curl_init();
        $options = [
            CURLOPT_URL => $url,
            CURLOPT_CUSTOMREQUEST => $method,
            // An empty "Expect" keeps curl from waiting for "100 Continue".
            CURLOPT_HTTPHEADER => [...$lines, 'Expect:'],
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ceil($this->timeoutSeconds * 1000),
            CURLOPT_CONNECTTIMEOUT_MS => (int) ceil($this->connectTimeoutSeconds * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => static function ($request, string $line) use (&$retryAfter): int {
                if (preg_match('/^retry-after:\s*(\S{1,40})/i', $line, $match) === 1) {
                    $retryAfter = $match[1];
                }
                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function ($request, string $part) use (&$content): int {
                $content .= $part;
                return strlen($content) > self::MAXIMUM_ANSWER_BYTES ? -1 : strlen($part);
            },
        ];
        if ($body !== null) {
            $options[CURLOPT_POSTFIELDS] = $body;
        }
        curl_setopt_array($request, $options);
        if (curl_exec($request) === false) {
            throw new ConnectionException('the service did not answer: ' . curl_strerror(curl_errno($request)));
        }
        return new Answer((int) curl_getinfo($request, CURLINFO_RESPONSE_CODE), $content, $retryAfter);
    }
}
