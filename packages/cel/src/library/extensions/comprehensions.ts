/** Two-variable comprehensions: macros, and the function that `transformMap` is made of. */

import { noSuchOverload } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import { twoVariableMacros } from '../../syntax/macros-extended.ts';
import * as t from '../../types.ts';

const K = t.param('K');
const V = t.param('V');
const map = t.mapOf(K, V);
/** Loops insert in place (see `evaluate/plan-loop`): nobody else can call this name. */
const unreached = (): never => noSuchOverload();

export const twoVariableComprehensions: Library = {
  name: 'two-variable comprehensions',
  macros: twoVariableMacros,
  functions: {
    'cel.@mapInsert': [
      overload('@mapInsert_map_map', [map, map], map, unreached),
      overload('@mapInsert_map_key_value', [map, K, V], map, unreached),
    ],
  },
};
