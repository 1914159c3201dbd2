/** Shortens messages of other programs for reports: one line, not long. */

const lengthMax = 300;

export function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax)}…` : line;
}

export const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1000))} s`;
