/** The types of the parts of a value: expressions on a part have the same view of it as expressions on the whole. */

import { escapeName } from '@hangar/cel';
import type { Type } from '@hangar/cel';

export function fieldType(whole: Type | undefined, name: string): Type | undefined {
  const celName = whole?.kind === 'object' ? escapeName(name) : undefined;
  return whole?.kind === 'object' && celName !== undefined ? whole.fields.get(celName)?.type : undefined;
}

/** Of the items of a list, or the values of a map. */
export function elementType(whole: Type | undefined): Type | undefined {
  return whole?.kind === 'list' ? whole.element : whole?.kind === 'map' ? whole.value : undefined;
}
