/** The environment of the CEL specification and its published extensions, without those of Kubernetes. */

import type { Library } from '../environment.ts';
import { bindMacros } from '../syntax/macros.ts';
import { twoVariableComprehensions } from './extensions/comprehensions.ts';
import { encoders } from './extensions/encoders.ts';
import { extendedLists } from './extensions/lists.ts';
import { math } from './extensions/math.ts';
import { optionals } from './extensions/optional.ts';
import { sets } from './extensions/sets.ts';
import { extendedStrings, reverseStrings } from './extensions/strings.ts';
import { standardLibrary } from './standard/index.ts';

const bindings: Library = { name: 'bindings', macros: bindMacros };

export const celLibraries: readonly Library[] = [
  standardLibrary,
  optionals,
  twoVariableComprehensions,
  extendedStrings,
  reverseStrings,
  extendedLists,
  sets,
  math,
  encoders,
  bindings,
];
