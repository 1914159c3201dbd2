/** The values that field selectors compare with. */

import type { KubeObject } from '../../object.ts';
import { isObject } from '../../object.ts';
import { goText } from './nested.ts';

/** The text of the value at a dotted path; empty when there is none. */
export function findSelectable(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const name of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return '';
    value = value[name];
  }
  return value === null ? '' : goText(value);
}
