export function reasonSentence(reason: string | null): string {
  if (reason === null) return '';
  const status = /^http_(\d+)$/.exec(reason)?.[1];
  if (status !== undefined) return `The endpoint responded with ${status}. Only 2xx counts as received.`;
  const sentences: Readonly<Record<string, string>> = { ...deliveryReasons, ...notificationReasons };
  return sentences[reason] ?? reason;
}

/** Descriptions by stable code, for logs, pages and metrics. A response other than 2xx has the code `http_<status>`. */
export const deliveryReasons = {
  // Blocked before a connection was opened.
  blocked_url: 'The callback URL is no longer allowed. Nothing was sent.',
  blocked_address: 'The host name resolves to an address that is not public. Nothing was sent.',
  blocked_own_address: 'The host name resolves to this service. Nothing was sent.',
  // Failed before the body was sent.
  dns_failed: 'DNS has no address for the host name.',
  dns_timeout: 'The DNS lookup timed out.',
  connect_failed: 'The connection failed.',
  connect_refused: 'The host refused the connection.',
  connect_timeout: 'The connection timed out.',
  tls_expired: 'The certificate has expired.',
  tls_failed: 'The TLS handshake failed.',
  tls_not_yet_valid: 'The certificate is not valid yet.',
  tls_self_signed: 'The certificate is self-signed.',
  tls_timeout: 'The TLS handshake timed out.',
  tls_untrusted: 'The certificate’s issuer is not trusted.',
  tls_version: 'The host supports only insecure versions of TLS.',
  tls_wrong_host: 'The certificate is for another host.',
  // Failed because the response is not acceptable HTTP.
  invalid_response: 'The endpoint’s response is not HTTP.',
  response_headers_too_large: 'The response headers were too large.',
  too_many_interim_responses: 'The endpoint sent too many informational (1xx) responses.',
  // Unknown, because the body may have arrived.
  no_response: 'The connection ended without a response. The event may have arrived.',
  reset: 'The connection was reset after the event was sent. The event may have arrived.',
  timeout: 'The endpoint did not respond within ten seconds. The event may have arrived.',
  // Errors in this service.
  event_unreadable: 'The stored event cannot be read: the database was changed or damaged.',
  signing_key_missing: 'The secret of the payment’s ipn_token is no longer configured.',
  internal_error: 'An error of this service. The operator’s log has the details.',
  // Found unfinished after a restart or a restore.
  interrupted: 'The service was interrupted while it sent the event. The event may have arrived.',
  restored: 'The database was restored, and the event may have been sent before. It is not sent again.',
} as const;

const notificationReasons = {
  mail_failed: 'The mail server refused the message.',
  mail_not_configured: 'This service sends no email.',
  sealed_otherwise: 'The secret that sealed the address is no longer configured.',
} as const;

export type DeliveryReason = keyof typeof deliveryReasons | `http_${number}`;
