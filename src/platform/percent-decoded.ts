/**
 * Decodes percent-encoded ASCII characters, for comparisons that an encoding must not evade. Never throws; invalid
 * encodings stay.
 */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
