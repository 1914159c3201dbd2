/** The standard library of the CEL specification. */

import type { Library } from '../../environment.ts';
import { standardMacros } from '../../syntax/macros.ts';
import { arithmetic } from './arithmetic.ts';
import { conversions } from './conversions.ts';
import { relations } from './relations.ts';
import { strings } from './strings.ts';
import { time } from './time.ts';

export const standardLibrary: Library = {
  name: 'standard',
  macros: standardMacros,
  types: conversions.types ?? [],
  functions: Object.assign(
    {},
    ...[arithmetic, conversions, relations, strings, time].map((library) => library.functions),
  ) as NonNullable<Library['functions']>,
};
