/** Takes an endpoint's secrets out of a text before it is logged. */
export type Redact = (text: string) => string;

/** Shorter parts of a URL ("v2", "rpc") are no secrets, and replacing them would garble the text. */
const MINIMUM_SECRET_LENGTH = 5;

/**
 * Providers of nodes put the customer's key into the URL's user, password, path or query, and a node may repeat it
 * in its error message.
 */
export function createRedactor(url: URL): Redact {
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()];
  const texts = parts
    .flatMap((part) => [part, decodePart(part)])
    .filter((text) => text.length >= MINIMUM_SECRET_LENGTH);
  // Longest first, so that no rest of a longer secret stays behind.
  const secrets = [...new Set(texts)].sort((first, second) => second.length - first.length);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

/** A part of a URL without its percent signs; as it is where they encode nothing. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
