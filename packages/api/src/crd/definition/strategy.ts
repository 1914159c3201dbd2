/** The strategy of CustomResourceDefinitions themselves. */

import { schemaOf } from '../../builtin/schemas.ts';
import { normalise } from '../../fields/normalise.ts';
import type { KubeObject } from '../../object.ts';
import { quote } from '../../status/field-error.ts';
import type { Strategy } from '../../strategy/contract.ts';
import { nameIsSubdomain } from '../../validation/formats.ts';
import { asDefinition } from '../custom-resource-definition.ts';
import type { CustomResourceDefinition, DefinitionCondition } from '../custom-resource-definition.ts';
import { deepEqual } from '../structural/canonical.ts';
import { isKnownFormat } from '../values/formats.ts';
import { setCondition } from './conditions.ts';
import { defaultDefinition } from './defaults.ts';
import { partsOf } from './unsupported.ts';
import type { JsonSchema } from '../json-schema.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './validate.ts';

export const definitionStrategy: Strategy = {
  allowsCreateOnUpdate: false,
  allowsUnconditionalUpdate: false,
  applyDefaults: defaultDefinition,
  prepareForCreate(crd) {
    const definition = asDefinition(crd);
    delete definition.status;
    definition.metadata.generation = 1;
    rememberStorageVersion(definition);
  },
  prepareForUpdate(crd, oldCrd, subresource) {
    const definition = asDefinition(crd);
    const old = asDefinition(oldCrd);
    const { generation } = old.metadata;
    if (subresource === 'status') {
      definition.spec = old.spec;
      if (generation !== undefined) definition.metadata.generation = generation;
      return;
    }
    if (old.status === undefined) delete definition.status;
    else definition.status = { ...old.status };
    const isChanged = !deepEqual(canonicalSpec(crd), canonicalSpec(oldCrd));
    if (isChanged) definition.metadata.generation = (generation ?? 0) + 1;
    else if (generation !== undefined) definition.metadata.generation = generation;
    rememberStorageVersion(definition);
  },
  validateCreate: validateDefinition,
  validateUpdate: (crd, old, subresource) =>
    subresource === 'status' ? validateDefinitionStatus(crd) : validateDefinitionUpdate(crd, old),
  warningsOnCreate: (crd) => unknownFormats(crd).map(formatWarning),
  warningsOnUpdate(crd, old) {
    const known = new Set(unknownFormats(old));
    return unknownFormats(crd)
      .filter((format) => !known.has(format))
      .map(formatWarning);
  },
  validateName: nameIsSubdomain,
  resetFields: (subresource) => (subresource === 'status' ? ['spec'] : ['status']),
};

/** Returns the spec as it would be written: an empty map is absent. */
const canonicalSpec = (crd: KubeObject): unknown =>
  normalise(schemaOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition')!, crd)['spec'];

const formatWarning = (format: string): string => `unrecognized format ${quote(format)}`;

/** The store may hold objects of this version until a migration removes it. */
function rememberStorageVersion(definition: CustomResourceDefinition): void {
  const storage = (definition.spec.versions ?? []).find((version) => version.storage);
  const stored = definition.status?.storedVersions ?? [];
  if (storage === undefined || stored.includes(storage.name)) return;
  definition.status = { ...definition.status, storedVersions: [...stored, storage.name] };
}

function unknownFormats(crd: KubeObject): string[] {
  const found: string[] = [];
  const visit = (schema: JsonSchema): void => {
    const { format = '', type = '' } = schema;
    if (format !== '' && !isKnownFormat(format, type)) found.push(format);
    for (const part of partsOf(schema)) visit(part);
  };
  for (const { schema } of asDefinition(crd).spec.versions ?? []) {
    if (schema?.openAPIV3Schema) visit(schema.openAPIV3Schema);
  }
  return found;
}

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Starts the deletion of a definition, in place: its custom resources are deleted first. */
export function beginTermination(crd: KubeObject, now: string): void {
  const definition = asDefinition(crd);
  const { metadata } = definition;
  metadata.deletionTimestamp ??= now;
  if (!metadata.finalizers?.includes(cleanupFinalizer)) {
    metadata.finalizers = [...(metadata.finalizers ?? []), cleanupFinalizer];
  }
  const conditions: DefinitionCondition[] = [...(definition.status?.conditions ?? [])];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  setCondition(conditions, { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message }, now);
  definition.status = { ...definition.status, conditions };
}
