/** Objects as YAML, in the form that Kubernetes' tools write: keys in order, lists not indented, double quotes. */

import { createRequire } from 'node:module';
import { lazy } from '@hangar/core';
import type * as Yaml from 'js-yaml';
import type { JsonObject } from '../object.ts';

const require = createRequire(import.meta.url);
const yaml = lazy(() => require('js-yaml') as typeof Yaml);

export interface DumpOptions {
  /** Strings and keys that match are in double quotes, so that anything in them may be written as an escape. */
  readonly doubleQuoted?: RegExp;
}

export const dumpYaml = (value: JsonObject, { doubleQuoted }: DumpOptions = {}): string =>
  yaml().dump(value, {
    lineWidth: -1,
    noRefs: true,
    sortKeys: true,
    seqNoIndent: true,
    quoteStyle: 'double',
    ...(doubleQuoted && { scalarStyleRules: [quoting(doubleQuoted), ...defaultRules()] }),
  });

const defaultRules = (): readonly Yaml.ScalarStyleRule[] => Object.values(yaml().DEFAULT_SCALAR_STYLE_RULES);

const quoting =
  (pattern: RegExp): Yaml.ScalarStyleRule =>
  (layout) => {
    if (pattern.test(layout.node.value)) layout.style = yaml().SCALAR_STYLE.DOUBLE_QUOTED;
  };
