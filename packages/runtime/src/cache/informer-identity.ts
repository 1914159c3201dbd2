/** Identity of informers of a kind: equal options, with functions compared by reference. */

import type { ApiObject } from '@hangar/client';
import type { InformerOptions } from './contract.ts';

const numbers = new WeakMap<object, number>();
let last = 0;

function numberOf(transform: object | undefined): number {
  if (transform === undefined) return 0;
  let number = numbers.get(transform);
  if (number === undefined) numbers.set(transform, (number = ++last));
  return number;
}

export function identityOf<T extends ApiObject>(options: InformerOptions<T>): string {
  const { namespace, namespaces = [], labelSelector = '', fieldSelector = '', metadataOnly = false } = options;
  const named = [...new Set(namespace === undefined ? namespaces : [...namespaces, namespace])].toSorted();
  return JSON.stringify([named, labelSelector, fieldSelector, metadataOnly, numberOf(options.transform)]);
}
