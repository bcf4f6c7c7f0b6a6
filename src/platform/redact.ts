/** Keys whose values identify a person or grant access. */
const SENSITIVE_KEY = /session|token|secret|signature|key|password|e-?mail|phone|(?:^|_)ip(?:$|_)|ipaddress/i;
const MAXIMUM_DEPTH = 12;

/** Redacts query strings, email addresses, IP addresses, and long words such as keys. Keeps on-chain addresses. */
export function redactText(text: string): string {
  return text
    .replace(/\bhttps?:\/\/[^\s"'<>]+/g, (url) => {
      const parsed = URL.parse(url);
      return parsed === null ? '<url>' : `${parsed.origin}${parsed.pathname}`;
    })
    .replace(/[^\s@<>"']+@[^\s@<>"']+/g, '<email>')
    .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b(?!:\d)/g, (ip) => (ip === '127.0.0.1' ? ip : '<ip>'))
    .replace(/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi, '<ip>')
    .replace(/[A-Za-z0-9+_=-]{20,}/g, (word) =>
      /^0x[0-9a-f]{40}$/i.test(word) || /^(?:[a-z_=-]+|[A-Z_=-]+)$/.test(word) ? word : '<removed>',
    );
}

/** Redacts all texts, removes texts under sensitive keys, and replaces values that are nested too deeply with null. */
export function redactJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAXIMUM_DEPTH) return null;
  if (Array.isArray(value)) return value.map((each) => redactJson(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      typeof each === 'string' && SENSITIVE_KEY.test(key) ? '<removed>' : redactJson(each, depth + 1),
    ]),
  );
}
