/**
 * Escapes text from a server for a terminal. Names, messages and events must not be able to move the cursor, set the window title, hide
 * other text, or make one line look like two.
 */

/** Controls (C0, DEL, C1), line ends, lone surrogates, and invisible or direction-changing characters, as in "Trojan Source". */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns the text on one line, with special characters as `\x1b` or `\u202e`. */
export const plain = (text: string): string => text.replace(unsafe, escaped);

/** Like `plain`, for a text of several lines. */
export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

/** Escapes such characters in JSON, without changing its meaning. */
export const plainJson = (json: string): string =>
  json.replace(unsafe, (one) =>
    one === '\n' ? one : one.replaceAll(/./gs, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`),
  );

/** Characters that require double quotes in YAML, for `plainYaml`. */
export const unsafeInYaml = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Escapes such characters in YAML. All of them must be in double quotes. */
export const plainYaml = (yaml: string): string =>
  yaml.replace(unsafe, (one) => {
    if (one === '\n') return one;
    const code = one.codePointAt(0)!;
    return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });

/** Truncates to this number of characters. */
export const shortened = (text: string, lengthMax: number): string => {
  const characters = [...text];
  return characters.length <= lengthMax ? text : `${characters.slice(0, Math.max(0, lengthMax - 1)).join('')}…`;
};

/** Quotes a text of a user or server for a message. */
export const quoted = (text: string): string => `"${shortened(plain(text), 200)}"`;

const escaped = (one: string): string => {
  if (one === '\n') return '\\n';
  if (one === '\t') return '\\t';
  const code = one.codePointAt(0)!;
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`;
};

const hex = (code: number, length: number): string => code.toString(16).padStart(length, '0');
