/** Names and messages are others': on a terminal they may do nothing, and they are one line. */

/** Control and format characters, halves of surrogate pairs, separators of lines. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const lengthMax = 1_024;

/** `\u{1b}` for what is not to be seen. */
export function plain(text: string): string {
  const safe = text.slice(0, lengthMax).replaceAll(unsafe, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);
  return text.length > lengthMax ? `${safe}…` : safe;
}
