/** Finds repeated keys in the objects of a body, with kube-apiserver's messages. */

import { isObject } from '@hangar/api';
import type { RepeatedKeys } from '@hangar/api';

export function repeatedProblems(value: unknown, repeated: RepeatedKeys | undefined): string[] {
  if (!repeated || repeated.size === 0) return [];
  const problems = new Set<string>();
  const visit = (one: unknown, path: string): void => {
    if (Array.isArray(one)) one.forEach((item, index) => visit(item, `${path}[${index}]`));
    else if (isObject(one)) {
      const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
      const seen = new Set<string>();
      for (const key of repeated.get(one) ?? []) {
        if (seen.has(key)) problems.add(`duplicate field "${at(key)}"`);
        seen.add(key);
      }
      for (const key of Object.keys(one)) visit(one[key], at(key));
    }
  };
  visit(value, '');
  return [...problems];
}
