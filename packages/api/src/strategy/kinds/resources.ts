/** resource.k8s.io: devices, and claims to them. */

import { isEmpty, objectAt, objectsAt, stringAt } from '../../defaults/access.ts';
import { isObject } from '../../object.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { nameIsDeclared } from '../names.ts';
import { statusMetadata } from '../metadata.ts';
import type { Create, KindRules, Now, Update } from '../rules.ts';

const ofSpec = { first: 1, of: ['spec'] } as const;

const createSlice: Create = (object, now) => prepareSlice(object, undefined, now);
const updateSlice: Update = (object, old, now) => prepareSlice(object, old, now);

export const resourceRules: Readonly<Record<string, KindRules>> = {
  'resource.k8s.io/DeviceClass': { name: nameIsDeclared, generation: ofSpec },
  'resource.k8s.io/ResourceSlice': { generation: ofSpec, create: createSlice, update: updateSlice },
  'resource.k8s.io/ResourceClaim': {
    statusKeeps: statusMetadata,
    updateStatus: dropDeallocated,
    statusResets: ['metadata', 'spec'],
  },
};

const listAttributes = ['ints', 'bools', 'strings', 'versions'];

const devicesOf = (slice: KubeObject | undefined): readonly JsonObject[] =>
  objectsAt(objectAt(slice, 'spec'), 'devices');

const attributesOf = (device: JsonObject): JsonObject[] => {
  const attributes = objectAt(device, 'attributes') ?? {};
  return Object.values(attributes).filter(isObject);
};

/** Drops fields of features that are off, unless the slice had them, and sets the time when a taint was added. */
function prepareSlice(object: KubeObject, old: KubeObject | undefined, now: Now): void {
  const before = devicesOf(old);
  const keepsMappings = before.some((device) => !isEmpty(device['nodeAllocatableResourceMappings']));
  const keepsLists = before.some((device) =>
    attributesOf(device).some((attribute) => listAttributes.some((name) => !isEmpty(attribute[name]))),
  );
  for (const device of devicesOf(object)) {
    if (!keepsMappings) delete device['nodeAllocatableResourceMappings'];
    if (!keepsLists)
      for (const attribute of attributesOf(device)) for (const name of listAttributes) delete attribute[name];
    for (const taint of objectsAt(device, 'taints')) taint['timeAdded'] ??= now();
  }
}

const deviceKey = (device: JsonObject): string =>
  JSON.stringify(['driver', 'pool', 'device', 'shareID'].map((name) => stringAt(device, name)));

const allocated = (claim: KubeObject): readonly JsonObject[] =>
  objectsAt(objectAt(objectAt(objectAt(claim, 'status'), 'allocation'), 'devices'), 'results');

/** Removes the status of devices that are no longer allocated. */
function dropDeallocated(object: KubeObject, old: KubeObject): void {
  const status = objectAt(object, 'status');
  const devices = objectsAt(status, 'devices');
  if (status === undefined || devices.length === 0) return;
  const gone = new Set(allocated(old).map(deviceKey));
  for (const device of allocated(object)) gone.delete(deviceKey(device));
  const kept = devices.filter((device) => !gone.has(deviceKey(device)));
  if (kept.length > 0) status['devices'] = kept;
  else delete status['devices'];
}
