/** Checks whether a text is base64 as Go decodes it: the standard alphabet, padded, line breaks ignored. */

/** Returns the problem in Go's wording; undefined if there is none. */
export function base64Problem(text: string): string | undefined {
  if (isPadded(text) || isPadded(text.replace(/[\r\n]/g, ''))) return undefined;
  const bad = /[^A-Za-z0-9+/\r\n]/.exec(text);
  // A last group that is too short is reported at its start.
  const at = bad ? Buffer.byteLength(text.slice(0, bad.index)) : text.length - (text.length % 4);
  return `illegal base64 data at input byte ${at}`;
}

const isPadded = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
