/** `size`, `contains`, `startsWith`, `endsWith`, `matches`. A string's size counts code points. */

import { method, overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import { regex } from '../../regex/cache.ts';
import * as t from '../../types.ts';
import type { CelList } from '../../values/list.ts';
import type { CelMap } from '../../values/map.ts';
import { indexIn } from '../../values/search.ts';
import { codePointCount } from '../../values/text.ts';

const A = t.param('A');
const B = t.param('B');
const { stringType: string, boolType: bool, intType: int } = t;
const matches = (text: string, pattern: string): boolean => regex(pattern).test(text);
const length = (bytes: Uint8Array): number => bytes.length;
const size = (collection: CelList | CelMap): number => collection.size;

export const strings: Library = {
  name: 'strings',
  functions: {
    size: [
      overload('size_string', [string], int, codePointCount),
      overload('size_bytes', [t.bytesType], int, length),
      overload('size_list', [t.listOf(A)], int, size),
      overload('size_map', [t.mapOf(A, B)], int, size),
      method('string_size', [string], int, codePointCount),
      method('bytes_size', [t.bytesType], int, length),
      method('list_size', [t.listOf(A)], int, size),
      method('map_size', [t.mapOf(A, B)], int, size),
    ],
    contains: [method('contains_string', [string, string], bool, (a: string, b: string) => indexIn(a, b) !== -1)],
    startsWith: [method('starts_with_string', [string, string], bool, (a: string, b: string) => a.startsWith(b))],
    endsWith: [method('ends_with_string', [string, string], bool, (a: string, b: string) => a.endsWith(b))],
    matches: [
      overload('matches', [string, string], bool, matches),
      method('matches_string', [string, string], bool, matches),
    ],
  },
};
