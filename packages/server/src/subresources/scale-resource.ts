/** The scale of a resource as a resource, so that decoding, patching and applying work on it. */

import { mergeTypeOfBuiltin } from '@hangar/api';
import type { Strategy } from '@hangar/api';
import { tables } from '../objects/tables.ts';
import { kindReader } from '../objects/kind-reader.ts';
import type { Resource } from '../resources/resource.ts';
import { scaleApiVersion } from './scale-managers.ts';

const nothing: readonly never[] = [];

/** A scale is validated when it is received, and its effect as an update of the scaled object. */
const strategy: Strategy = {
  allowsCreateOnUpdate: false,
  allowsUnconditionalUpdate: true,
  applyDefaults: () => {},
  prepareForCreate: () => {},
  prepareForUpdate: () => {},
  validateCreate: () => [],
  validateUpdate: () => [],
  warningsOnCreate: () => nothing,
  warningsOnUpdate: () => nothing,
  validateName: () => nothing,
  resetFields: () => nothing,
};

const known = new WeakMap<Resource, Resource>();

export function scaleResourceOf(scaled: Resource): Resource {
  let resource = known.get(scaled);
  if (!resource) known.set(scaled, (resource = newScaleResource(scaled)));
  return resource;
}

function newScaleResource(scaled: Resource): Resource {
  const reader = kindReader(scaleApiVersion, 'Scale');
  const { name, singular, namespaced, stored, deletion } = scaled;
  return {
    ...reader,
    name,
    singular,
    listKind: 'ScaleList',
    namespaced,
    verbs: [],
    shortNames: [],
    categories: [],
    subresources: [],
    storagePrefix: '',
    stored,
    strategy,
    deletion,
    mergeType: mergeTypeOfBuiltin(reader.struct),
    get table() {
      return tables().scaleTable;
    },
    scale: undefined,
    fieldSelector: (text) => scaled.fieldSelector(text),
    timeToLiveMs: undefined,
  };
}
