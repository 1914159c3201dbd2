/** find and findAll. */

import { method } from '../environment.ts';
import type { Library } from '../environment.ts';
import { regex } from '../regex/cache.ts';
import * as t from '../types.ts';
import { ValueList } from '../values/list.ts';
import type { CelInt } from '../values/values.ts';

const { stringType: string, intType: int } = t;

function find(text: string, pattern: string): string {
  const span = regex(pattern).find(text);
  return span === undefined ? '' : text.slice(span.start, span.end);
}

function findAll(text: string, pattern: string, limit: CelInt = -1): ValueList {
  return new ValueList(regex(pattern).findAll(text, limit < 0 ? Infinity : Number(limit)));
}

export const regularExpressions: Library = {
  name: 'kubernetes regex',
  functions: {
    find: [method('string_find_string', [string, string], string, find)],
    findAll: [
      method('string_find_all_string', [string, string], t.listOf(string), findAll),
      method('string_find_all_string_int', [string, string, int], t.listOf(string), findAll),
    ],
  },
};
