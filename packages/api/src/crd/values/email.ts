/** Parses email addresses like Go's net/mail: `user@example.com`, `Name <user@example.com>`, quoted local parts. */

const atomCharacter = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\u{10ffff}]";
const dotAtom = `${atomCharacter}+(?:\\.${atomCharacter}+)*`;
const quoted = '"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n])*"';
const literal = '\\[[^\\[\\]\\\\\\s]+\\]';
const comment = '(?:\\s*\\([^()]*\\))?';
const address = new RegExp(`^\\s*(?:${dotAtom}|${quoted})@(?:${dotAtom}|${literal})${comment}\\s*$`, 'u');
const phrase = new RegExp(
  `^\\s*(?:(?:${atomCharacter}|\\.)+|${quoted})(?:\\s+(?:(?:${atomCharacter}|\\.)+|${quoted}))*\\s*$`,
  'u',
);

/** Longer texts are not addresses, and are not matched. */
const lengthMax = 10_000;

export function isEmail(text: string): boolean {
  if (text.length > lengthMax) return false;
  const open = text.lastIndexOf('<');
  if (open === -1) return address.test(text);
  const [, inner] = /^<([^<>]*)>\s*$/.exec(text.slice(open)) ?? [];
  if (inner === undefined || !address.test(inner)) return false;
  const name = text.slice(0, open);
  return name.trim() === '' || phrase.test(name);
}
