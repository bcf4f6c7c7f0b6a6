/**
 * A text with its percent-encoded ASCII characters decoded, for a comparison that an encoding must not evade. Never
 * throws: what is no such encoding stays.
 */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
