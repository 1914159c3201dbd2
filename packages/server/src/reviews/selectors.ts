/** The selectors of an access review: as text or as requirements, like those of the request that it stands for. */

import {
  child,
  forbidden,
  index,
  invalid,
  labelSelectorOf,
  labelValueReasons,
  qualifiedNameReasons,
  required,
} from '@hangar/api';
import type { FieldError, FieldRequirement, LabelRequirement } from '@hangar/api';
import { fieldsSelected, labelsSelected, nothingSelected } from '../request/selectors.ts';
import type { RequestSelectors, Selected } from '../request/selectors.ts';

export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly SelectorRequirement[];
}

interface SelectorRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

export type SelectorName = 'fieldSelector' | 'labelSelector';

export function selectorErrors(selector: SelectorAttributes | undefined, name: SelectorName): FieldError[] {
  if (!selector) return [];
  const path = `spec.resourceAttributes.${name}`;
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    errors.push(invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const rule = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(required(`${path}.requirements`, rule));
  }
  const check = name === 'fieldSelector' ? fieldErrors : labelErrors;
  return [...errors, ...requirements.flatMap((one, at) => check(one, index(`${path}.requirements`, at)))];
}

const fieldErrors = (requirement: SelectorRequirement, path: string): FieldError[] => [
  ...(requirement.key ? [] : [required(child(path, 'key'), 'must be specified')]),
  ...operatorErrors(requirement, path),
];

function labelErrors(requirement: SelectorRequirement, path: string): FieldError[] {
  const { key = '', values = [] } = requirement;
  return [
    ...operatorErrors(requirement, path),
    ...qualifiedNameReasons(key).map((reason) => invalid(child(path, 'key'), key, reason)),
    ...values.flatMap((value, at) =>
      labelValueReasons(value).map((reason) => invalid(index(child(path, 'values'), at), value, reason)),
    ),
  ];
}

/** Unknown operators may come from newer clients: they are ignored. */
function operatorErrors({ operator, values = [] }: SelectorRequirement, path: string): FieldError[] {
  const at = child(path, 'values');
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    return [required(at, "must be specified when `operator` is 'In' or 'NotIn'")];
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    return [forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  }
  return [];
}

export function selectorsOf(
  fields: SelectorAttributes | undefined,
  labels: SelectorAttributes | undefined,
): RequestSelectors | undefined {
  if (!fields && !labels) return undefined;
  return {
    fields: selectedBy(fields, fieldsSelected, fieldRequirement),
    labels: selectedBy(labels, labelsSelected, labelRequirements),
  };
}

/** Invalid requirements are dropped: then the review covers more objects, and more must be allowed. */
function selectedBy<T>(
  selector: SelectorAttributes | undefined,
  parse: (text: string) => Selected<T>,
  read: (requirement: SelectorRequirement) => readonly T[] | undefined,
): Selected<T> {
  if (!selector) return nothingSelected;
  if (selector.rawSelector) return parse(selector.rawSelector);
  const all = (selector.requirements ?? []).map((one) => read(one));
  return { requirements: all.flatMap((one) => one ?? []), isPartial: all.includes(undefined) };
}

function fieldRequirement({
  key = '',
  operator,
  values = [],
}: SelectorRequirement): readonly FieldRequirement[] | undefined {
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return [{ field: key, operator: operator === 'In' ? '=' : '!=', value: values[0]! }];
}

function labelRequirements({
  key = '',
  operator = '',
  values = [],
}: SelectorRequirement): readonly LabelRequirement[] | undefined {
  try {
    return labelSelectorOf({ matchExpressions: [{ key, operator, values }] }).requirements;
  } catch {
    return undefined;
  }
}

/** Returns errors for ignored selectors, for the review's `evaluationError`. */
export function ignoredSelectors({ fields, labels }: RequestSelectors): string[] {
  const ignored = (name: SelectorName, { requirements, isPartial }: Selected<unknown>): string[] =>
    isPartial
      ? [`spec.resourceAttributes.${name} ${requirements.length > 0 ? 'partially ' : ''}ignored due to parse error`]
      : [];
  return [...ignored('fieldSelector', fields), ...ignored('labelSelector', labels)];
}
