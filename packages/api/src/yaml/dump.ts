/** Objects as YAML, in the form that Kubernetes' tools write: keys in order, lists not indented, double quotes. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type { JsonObject } from '../object.ts';
import type * as Writer from './writer.ts';
import type { YamlOptions } from './writer.ts';

const require = createRequire(import.meta.url);
const writer = lazy(() => require('./writer.ts') as typeof Writer);

export type { YamlOptions } from './writer.ts';

/** In one piece, for callers that write few and small objects. */
export const dumpYaml = (value: JsonObject, options: YamlOptions = {}): string =>
  [...dumpYamlInPieces(value, options)].join('');

/** In pieces of some 16,000 characters, each in time in proportion to its length. Throws TooLarge beyond the budget. */
export const dumpYamlInPieces = (value: JsonObject, options: YamlOptions = {}): Generator<string, void, void> =>
  writer().yamlPieces(value, options);
