/**
 * Computes the status of a definition that Kubernetes' controllers would write, in one step: accepted names, Established,
 * NonStructuralSchema and the policy about Kubernetes' own groups.
 */

import { aggregateText } from './aggregate.ts';
import type { KubeObject } from '../../object.ts';
import { fieldErrorText, quote } from '../../status/field-error.ts';
import { deepEqual } from '../structural/canonical.ts';
import { asDefinition } from '../custom-resource-definition.ts';
import type {
  CustomResourceDefinition,
  DefinitionCondition,
  DefinitionStatus,
  ResourceNames,
} from '../custom-resource-definition.ts';
import { isCaBundle } from './ca-bundle.ts';
import { structuralErrors } from './structural-rules.ts';
import { unsupportedPart } from './unsupported.ts';
import { approvalOf, isProtectedGroup } from './validate.ts';

/** The names that other definitions of the same group have. */
export interface TakenNames {
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and kinds of lists. */
  readonly kinds: ReadonlySet<string>;
}

export const noNamesTaken: TakenNames = { resources: new Set(), kinds: new Set() };

/** Returns the names that these definitions reserve in their group. */
export function takenNames(others: Iterable<KubeObject>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    const names = asDefinition(other).status?.acceptedNames;
    if (!names) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const kind of [names.kind, names.listKind]) if (kind) kinds.add(kind);
  }
  return { resources, kinds };
}

/** Returns the new status; `now` is the time for conditions that change. The definition is not changed. */
export function definitionConditions(crd: KubeObject, taken: TakenNames, now: string): DefinitionStatus {
  const definition = asDefinition(crd);
  const { names, condition: namesAccepted } = acceptNames(definition, taken);
  const conditions = [...(definition.status?.conditions ?? [])];
  const set = (condition: DefinitionCondition): void => setCondition(conditions, condition, now);
  if (!deepEqual(definition.spec.names, definition.status?.acceptedNames)) {
    set(namesAccepted);
    const established = conditions.find(({ type }) => type === 'Established');
    if (established?.status !== 'True') set(establishment(definition, namesAccepted.status === 'True'));
  }
  const violation = structureCondition(definition);
  const at = conditions.findIndex(({ type }) => type === 'NonStructuralSchema');
  if (violation !== undefined) set(violation);
  else if (at !== -1) conditions.splice(at, 1);
  const approval = approvalCondition(definition);
  if (approval !== undefined) set(approval);
  return {
    ...definition.status,
    conditions,
    acceptedNames: names,
    storedVersions: definition.status?.storedVersions ?? [],
  };
}

/** Keeps the time if the status does not change. */
export function setCondition(conditions: DefinitionCondition[], condition: DefinitionCondition, now: string): void {
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const time = old?.status === condition.status && old.lastTransitionTime ? old.lastTransitionTime : now;
  const made = { ...condition, lastTransitionTime: time };
  if (old === undefined) conditions.push(made);
  else conditions[at] = { ...old, ...made };
}

function acceptNames(
  { spec, status }: CustomResourceDefinition,
  taken: TakenNames,
): { names: ResourceNames; condition: DefinitionCondition } {
  const wanted = spec.names;
  const accepted: ResourceNames = status?.acceptedNames ?? { plural: '', kind: '' };
  const names: ResourceNames = { ...accepted };
  let conflict: { reason: string; message: string } | undefined;
  const inUse = (name: string): string => `${quote(name)} is already in use`;
  const isFree = (name: string | undefined, had: string | undefined, used: ReadonlySet<string>): boolean =>
    (name ?? '') === (had ?? '') || !used.has(name ?? '');
  const accept = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    reason: string,
    used: ReadonlySet<string>,
  ): void => {
    const name = wanted[field];
    if (!isFree(name, accepted[field], used)) conflict = { reason, message: inUse(name ?? '') };
    else if (name !== undefined) names[field] = name;
  };
  accept('plural', 'PluralConflict', taken.resources);
  accept('singular', 'SingularConflict', taken.resources);
  const known = new Set(accepted.shortNames);
  const shortNames = wanted.shortNames ?? [];
  const refused = shortNames.filter((name) => !known.has(name) && taken.resources.has(name));
  if (refused.length > 0) conflict = { reason: 'ShortNamesConflict', message: aggregateText(refused.map(inUse)) };
  else if (wanted.shortNames !== undefined) names.shortNames = wanted.shortNames;
  else delete names.shortNames;
  accept('kind', 'KindConflict', taken.kinds);
  accept('listKind', 'ListKindConflict', taken.kinds);
  if (wanted.categories === undefined) delete names.categories;
  else names.categories = wanted.categories;
  return {
    names,
    condition: {
      type: 'NamesAccepted',
      status: conflict ? 'False' : 'True',
      ...(conflict ?? { reason: 'NoConflicts', message: 'no conflicts found' }),
    },
  };
}

function establishment(definition: CustomResourceDefinition, areNamesAccepted: boolean): DefinitionCondition {
  if (!areNamesAccepted) {
    return { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
  }
  const bundle = definition.spec.conversion?.webhook?.clientConfig?.caBundle;
  if (bundle && !isCaBundle(bundle)) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type: 'Established', status: 'False', reason: 'InvalidCABundle', message };
  }
  const message = 'the initial names have been accepted';
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message };
}

function structureCondition({ spec }: CustomResourceDefinition): DefinitionCondition | undefined {
  const type = 'NonStructuralSchema';
  const texts: string[] = [];
  if (spec.preserveUnknownFields) texts.push('spec.preserveUnknownFields: Invalid value: true: must be false');
  for (const [i, { name, schema }] of spec.versions.entries()) {
    const root = schema?.openAPIV3Schema;
    if (!root) continue;
    const problem = unsupportedPart(root);
    if (problem !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${problem}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    const path = `spec.versions[${i}].schema.openAPIV3Schema`;
    texts.push(...structuralErrors(root, path).map(fieldErrorText));
  }
  if (texts.length === 0) return undefined;
  return { type, status: 'True', reason: 'Violations', message: aggregateText(texts) };
}

function approvalCondition(definition: CustomResourceDefinition): DefinitionCondition | undefined {
  if (!isProtectedGroup(definition.spec.group)) return undefined;
  const { state, reason: message } = approvalOf(definition);
  const reasons = {
    invalid: 'InvalidAnnotation',
    missing: 'MissingAnnotation',
    approved: 'ApprovedAnnotation',
    bypassed: 'UnapprovedAnnotation',
  };
  const status = state === 'approved' ? 'True' : 'False';
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason: reasons[state], message };
}
