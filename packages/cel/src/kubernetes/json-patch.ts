/** JSON patches of mutating policies: `JSONPatch{op: …, path: …, value: …}` and the escaping of keys in its paths. */

import { overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import type { ObjectType } from '../types.ts';

export const jsonPatchType: ObjectType = {
  kind: 'object',
  name: 'JSONPatch',
  fields: new Map([
    ['op', { type: t.stringType }],
    ['path', { type: t.stringType }],
    ['from', { type: t.stringType }],
    ['value', { type: t.dynType }],
  ]),
};

export const jsonPatches: Library = {
  name: 'kubernetes jsonpatch',
  types: [jsonPatchType],
  functions: {
    'jsonpatch.escapeKey': [
      overload('string_jsonpatch_escapeKey_string', [t.stringType], t.stringType, (key: string) =>
        key.replaceAll('~', '~0').replaceAll('/', '~1'),
      ),
    ],
  },
};
