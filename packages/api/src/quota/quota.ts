/** A decoded ResourceQuota. */

import type { KubeObject } from '../object.ts';
import { amountsOf } from './amounts.ts';
import type { Amounts } from './amounts.ts';
import type { List, ResourceList } from './pod.ts';

export interface ScopeSelector {
  readonly scope: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export interface Quota {
  readonly name: string;
  /** All must match. */
  readonly selectors: readonly ScopeSelector[];
  /** The enforced limits: those that the controller has observed and counted. */
  readonly hard: Amounts;
  readonly used: Amounts;
}

interface QuotaObject extends KubeObject {
  spec?: {
    scopes?: List<string>;
    scopeSelector?: {
      matchExpressions?: List<{ scopeName?: string; operator?: string; values?: List<string> }>;
    } | null;
  };
  status?: { hard?: ResourceList; used?: ResourceList };
}

export function readQuota(object: KubeObject): Quota {
  const { spec, status } = object as QuotaObject;
  return {
    name: object.metadata.name!,
    selectors: [
      ...(spec?.scopes ?? []).map((scope) => ({ scope, operator: 'Exists', values: [] })),
      ...(spec?.scopeSelector?.matchExpressions ?? []).map(({ scopeName = '', operator = '', values }) => ({
        scope: scopeName,
        operator,
        values: values ?? [],
      })),
    ],
    hard: amountsOf(status?.hard),
    used: amountsOf(status?.used),
  };
}

/** Reports whether a selector matches this name. Undefined: there is none. */
export function matchesName({ operator, values }: ScopeSelector, name: string | undefined): boolean {
  switch (operator) {
    case 'Exists':
      return name !== undefined;
    case 'DoesNotExist':
      return name === undefined;
    case 'In':
      return name !== undefined && values.includes(name);
    case 'NotIn':
      return name === undefined || !values.includes(name);
    default:
      return false;
  }
}
