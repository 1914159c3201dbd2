/** Escapes names and messages of others: they must not control a terminal, and stay on one line. */

/** Control and format characters, lone surrogates, line separators. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const lengthMax = 1_024;

/** Writes unsafe characters as `\u{1b}`. */
export function plain(text: string): string {
  const safe = text.slice(0, lengthMax).replaceAll(unsafe, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);
  return text.length > lengthMax ? `${safe}…` : safe;
}
