/** Kubernetes' base environment: what every expression in its API may use. */

import { environment } from '../environment.ts';
import type { Environment, Library } from '../environment.ts';
import { twoVariableComprehensions } from '../library/extensions/comprehensions.ts';
import { extendedLists } from '../library/extensions/lists.ts';
import { optionals } from '../library/extensions/optional.ts';
import { sets } from '../library/extensions/sets.ts';
import { extendedStrings } from '../library/extensions/strings.ts';
import { standardLibrary } from '../library/standard/index.ts';
import { totalMilliseconds } from '../library/standard/time.ts';
import type { Type } from '../types.ts';
import { authorization } from './authorizer.ts';
import { cidrs } from './cidr.ts';
import { formattedStrings } from './format-string.ts';
import { namedFormats } from './formats.ts';
import { ips } from './ip.ts';
import { lists } from './lists.ts';
import { quantities } from './quantity.ts';
import { regularExpressions } from './regex.ts';
import { semvers } from './semver.ts';
import { urls } from './urls.ts';

export const kubernetesLibraries: readonly Library[] = [
  standardLibrary,
  totalMilliseconds,
  optionals,
  twoVariableComprehensions,
  extendedStrings,
  formattedStrings,
  extendedLists,
  sets,
  lists,
  regularExpressions,
  urls,
  quantities,
  ips,
  cidrs,
  namedFormats,
  semvers,
  authorization,
];

/** The base environment with variables; `extra` adds libraries such as `jsonPatches`. */
export function kubernetesEnvironment(
  variables: Readonly<Record<string, Type>>,
  extra: readonly Library[] = [],
): Environment {
  return environment({ libraries: [...kubernetesLibraries, ...extra], variables, homogeneousLiterals: true });
}
