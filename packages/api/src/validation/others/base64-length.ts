/** Returns the number of bytes of a base64 text without decoding it; 0 for null, which clients may send. */
export function base64Length(text: string | null): number {
  if (text === null) return 0;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}
