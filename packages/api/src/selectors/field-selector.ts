/** Selection by fields: `?fieldSelector=`, for built-in kinds and for custom resources with selectable fields. */

import type { JsonObject } from '../object.ts';
import { badRequest } from '../status/status.ts';
import { builtinFieldSelectors, fieldAt, nameAndNamespace, plainKind } from './builtin-fields.ts';
import type { FieldReader, SelectableKind } from './builtin-fields.ts';
import { fieldRequirementText, parseFieldRequirements } from './field-terms.ts';
import type { FieldRequirement } from './field-terms.ts';

interface Condition {
  readonly requirement: FieldRequirement;
  readonly read: FieldReader;
}

/** All requirements must hold. */
export class FieldSelector {
  readonly #conditions: readonly Condition[];

  constructor(conditions: readonly Condition[]) {
    this.#conditions = conditions;
  }

  get requirements(): readonly FieldRequirement[] {
    return this.#conditions.map(({ requirement }) => requirement);
  }

  /** Selects everything. */
  get isEmpty(): boolean {
    return this.#conditions.length === 0;
  }

  /** The one name that can be selected; undefined when there is no such restriction. */
  get requiresName(): string | undefined {
    return this.#exactly('metadata.name');
  }

  get requiresNamespace(): string | undefined {
    return this.#exactly('metadata.namespace');
  }

  matches(object: JsonObject): boolean {
    return this.#conditions.every(
      ({ requirement, read }) => (read(object) === requirement.value) === (requirement.operator === '='),
    );
  }

  toString(): string {
    return this.requirements.map(fieldRequirementText).join(',');
  }

  #exactly(field: string): string | undefined {
    return this.requirements.find((one) => one.field === field && one.operator === '=')?.value;
  }
}

const everything = new FieldSelector([]);

/** Without a kind: every label is a path. Throws a BadRequest with the reason. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everything;
  const conditions = parseFieldRequirements(text).map((requirement) => ({
    requirement,
    read: fieldAt(requirement.field.split('.')),
  }));
  return new FieldSelector(conditions);
}

export interface SelectedKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** For a custom resource: JSON paths such as `.spec.color`, possibly none. Absent for built-in kinds. */
  readonly selectableFields?: readonly string[] | undefined;
  /** For a custom resource; default: true. */
  readonly namespaced?: boolean;
}

/** Throws a BadRequest for malformed text and for labels that the kind does not support. */
export function fieldSelectorFor(selected: SelectedKind, text: string): FieldSelector {
  if (text === '') return everything;
  const { fields, refusal } = selectableKind(selected);
  const conditions = parseFieldRequirements(text).map((requirement) => {
    const { field } = requirement;
    if (!Object.hasOwn(fields, field)) throw badRequest(refusal(field));
    return { requirement, read: fields[field]! };
  });
  return new FieldSelector(conditions);
}

function selectableKind({ apiVersion, kind, selectableFields, namespaced = true }: SelectedKind): SelectableKind {
  if (!selectableFields) return builtinFieldSelectors[`${apiVersion}/${kind}`] ?? plainKind;
  const fields: Record<string, FieldReader> = Object.create(null) as Record<string, FieldReader>;
  for (const path of selectableFields) fields[path.replace(/^\./, '')] = fieldAt(keysOf(path));
  for (const [label, read] of Object.entries(nameAndNamespace)) {
    if (namespaced || label === 'metadata.name') fields[label] = read;
  }
  return { fields, refusal: (label) => `field label not supported: ${label}` };
}

/** `.spec.color` and `.spec['dotted.name']`. */
const keysOf = (path: string): string[] =>
  Array.from(path.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g), ([, plain, quoted]) =>
    plain === undefined ? quoted!.replace(/\\(.)/g, '$1') : plain,
  );
