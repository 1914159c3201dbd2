/** Two-variable comprehensions: macros, and the function that `transformMap` uses. */

import { noSuchOverload } from '../../errors.ts';
import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import { twoVariableMacros } from '../../syntax/macros-extended.ts';
import * as t from '../../types.ts';

const K = t.param('K');
const V = t.param('V');
const map = t.mapOf(K, V);
/** Loops insert in place (see `evaluate/plan-loop`): this name cannot be called otherwise. */
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
