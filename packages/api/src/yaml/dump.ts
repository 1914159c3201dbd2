/** Objects as YAML, in the form that Kubernetes' tools write: keys in order, lists not indented, double quotes. */

import { dump } from 'js-yaml';
import type { JsonObject } from '../object.ts';

export const dumpYaml = (value: JsonObject): string =>
  dump(value, { lineWidth: -1, noRefs: true, sortKeys: true, seqNoIndent: true, quoteStyle: 'double' });
