/** A request that a real on-ramp would refuse as well: a parameter is missing, malformed or unknown. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError';
}

/** The target of the page's "back" link: http(s) only, because it becomes a link. */
export function readReturnUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidRequestError('the address that leads back is malformed');
  return url.href;
}
