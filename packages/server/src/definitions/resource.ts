/** CustomResourceDefinitions as a resource: their writes and deletions beyond those of other kinds. */

import { builtinGroups, invalid, invalidObject } from '@hangar/api';
import type { KubeObject, Strategy } from '@hangar/api';
import type { Revision } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';
import type { DeletionRules } from '../resources/resource.ts';
import { timestamp } from '../verbs/metadata.ts';
import { crd } from './library.ts';

export const definitionsName = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

export const isDefinitions = (group: string, name: string): boolean =>
  group === definitionsName.group && name === definitionsName.resource;

/** The strategy; its modules are loaded on first use. */
export const definitionStrategy: Strategy = {
  get allowsCreateOnUpdate() {
    return crd().definitionStrategy.allowsCreateOnUpdate;
  },
  get allowsUnconditionalUpdate() {
    return crd().definitionStrategy.allowsUnconditionalUpdate;
  },
  applyDefaults: (object) => crd().definitionStrategy.applyDefaults(object),
  prepareForCreate: (object) => crd().definitionStrategy.prepareForCreate(object),
  prepareForUpdate: (object, old, subresource) => crd().definitionStrategy.prepareForUpdate(object, old, subresource),
  validateCreate: (object) => crd().definitionStrategy.validateCreate(object),
  validateUpdate: (object, old, subresource) => crd().definitionStrategy.validateUpdate(object, old, subresource),
  warningsOnCreate: (object) => crd().definitionStrategy.warningsOnCreate(object),
  warningsOnUpdate: (object, old) => crd().definitionStrategy.warningsOnUpdate(object, old),
  validateName: (name, isPrefix) => crd().definitionStrategy.validateName(name, isPrefix),
  resetFields: (subresource) => crd().definitionStrategy.resetFields(subresource),
};

/**
 * Establishes a definition in the write that creates it: its status has the accepted names and conditions from the start, which other
 * servers' controllers add later.
 */
export function establish(plane: ControlPlane, object: KubeObject): void {
  refuseBuiltin(plane, object);
  const taken = plane.definitions.namesTaken(object);
  object['status'] = crd().definitionConditions(object, taken, timestamp(plane.clock));
}

/** Objects of built-in kinds may be stored under the same keys as objects of such a definition. */
function refuseBuiltin({ catalogue }: ControlPlane, object: KubeObject): void {
  const { group, names } = object['spec'] as { group: string; names: { plural: string } };
  const isBuiltin = builtinGroups().some(
    ({ name, versions }) =>
      name === group && versions.some(({ resources }) => resources.some((one) => one.name === names.plural)),
  );
  if (!isBuiltin && !catalogue.isDeclared(group)) return;
  throw invalidObject({ group: definitionsName.group, kind: object.kind }, object.metadata.name ?? '', [
    invalid('spec.names.plural', names.plural, `is a built-in resource of ${group}`),
  ]);
}

/** An acknowledged definition is already served: the next request may be for its objects. */
export const served = (plane: ControlPlane, revision: Revision): Promise<void> => plane.definitions.reached(revision);

export const definitionDeletion: DeletionRules = {
  returnsObject: false,
  dependents: 'delete',
  graceSeconds: () => undefined,
  isHeld: () => false,
  // Its objects are deleted first: see `cleaner.ts`.
  onDelete: (object, now) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    crd().beginTermination(object, now);
    delete object.metadata.deletionTimestamp;
  },
};
