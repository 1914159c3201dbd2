/**
 * Text of others on its way to a terminal. Names, messages and events come from a server, and whoever may write them must not thereby
 * move the cursor, retitle the window, hide what stands beside, or make one line look like two.
 */

/** Controls (C0, DEL, C1), line ends, lone surrogates, and what is not seen or changes the direction, as in "Trojan Source". */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** On one line, with everything that is no plain text as `\x1b` or `\u202e`. */
export const plain = (text: string): string => text.replace(unsafe, escaped);

/** The same of a text of several lines. */
export const plainLines = (text: string): string => text.split('\n').map(plain).join('\n');

/** JSON, in which such characters can be written so that they mean the same. */
export const plainJson = (json: string): string =>
  json.replace(unsafe, (one) =>
    one === '\n' ? one : one.replaceAll(/./gs, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`),
  );

/** What must be in double quotes in YAML, for `plainYaml`. */
export const unsafeInYaml = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** YAML, in which they mean the same where they are in double quotes: there they all must be. */
export const plainYaml = (yaml: string): string =>
  yaml.replace(unsafe, (one) => {
    if (one === '\n') return one;
    const code = one.codePointAt(0)!;
    return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });

/** At most so many characters. */
export const shortened = (text: string, lengthMax: number): string => {
  const characters = [...text];
  return characters.length <= lengthMax ? text : `${characters.slice(0, Math.max(0, lengthMax - 1)).join('')}…`;
};

/** In quotes, for messages: what somebody typed or a server said. */
export const quoted = (text: string): string => `"${shortened(plain(text), 200)}"`;

const escaped = (one: string): string => {
  if (one === '\n') return '\\n';
  if (one === '\t') return '\\t';
  const code = one.codePointAt(0)!;
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`;
};

const hex = (code: number, length: number): string => code.toString(16).padStart(length, '0');
