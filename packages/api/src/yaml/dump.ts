/** Objects as YAML, in the form that Kubernetes' tools write: keys in order, lists not indented, double quotes. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type * as Yaml from 'js-yaml';
import type { JsonObject } from '../object.ts';

const require = createRequire(import.meta.url);
const yaml = lazy(() => require('js-yaml') as typeof Yaml);

export const dumpYaml = (value: JsonObject): string =>
  yaml().dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, seqNoIndent: true, quoteStyle: 'double' });
