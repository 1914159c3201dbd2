/** Objects with long lists as JSON, in pieces: the work can pause after each. */

import { LazyList } from '../lazy-list.ts';
import type { JsonObject } from '../object.ts';

const pieceLength = 16 * 1024;

/** As `JSON.stringify` writes it. Lists at the top are written item by item; a piece may be empty. */
export function* jsonPieces(object: JsonObject): Generator<string, void, void> {
  let text = '{';
  let isFirst = true;
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    text += `${isFirst ? '' : ','}${JSON.stringify(key)}:`;
    isFirst = false;
    const list = Array.isArray(value) ? LazyList.of(value as unknown[], itself) : value;
    if (!(list instanceof LazyList)) {
      text += JSON.stringify(value);
      continue;
    }
    text += '[';
    for (let at = 0; at < list.length; at++) {
      text += `${at === 0 ? '' : ','}${JSON.stringify(list.item(at) ?? null)}`;
      if (text.length < pieceLength) yield '';
      else {
        yield text;
        text = '';
      }
    }
    text += ']';
  }
  yield `${text}}`;
}

const itself = <T>(item: T): T => item;
