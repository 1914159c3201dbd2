/** `strings.quote`: a string as a literal, its quotes and control characters escaped. */

import { allocate, work } from '../../work.ts';

const nsPerCharacter = 20;

const escapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export function quote(text: string): string {
  work(text.length * nsPerCharacter);
  allocate(text.length);
  // eslint-disable-next-line no-control-regex -- the bell is one of the characters with a name
  return `"${text.toWellFormed().replace(/[\u0007\b\f\n\r\t\v\\"]/g, (char) => escapes[char]!)}"`;
}
