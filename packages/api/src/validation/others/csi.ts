/** CSIDriver, CSINode and CSIStorageCapacity. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, index, invalid, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength, dnsSubdomainReasons } from '../formats.ts';
import {
  immutableErrors,
  invalidFor,
  nonNegativeErrors,
  oneOfErrors,
  qualifiedNameErrors,
  repeatedIn,
  requiredErrors,
} from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { nonNegativeQuantityErrors } from '../shared/quantities.ts';
import {
  isEmpty,
  isSet,
  optionalNumber,
  optionalStruct,
  structOf,
  structsOf,
  textOf,
  textsOf,
} from '../shared/read.ts';
import { selectorWarnings } from './deprecated-node-labels.ts';

/** Case does not matter in the names of drivers. */
export function csiDriverNameErrors(path: string, name: string): FieldError[] {
  if (name === '') return [required(path, '')];
  return [
    ...(byteLength(name) > 63 ? [tooLong(path, 63)] : []),
    ...invalidFor(path, name, dnsSubdomainReasons(name.toLowerCase())),
  ];
}

const requiredFlags: readonly (readonly [field: string, path: string])[] = [
  ['attachRequired', 'spec.attachedRequired'],
  ['podInfoOnMount', 'spec.podInfoOnMount'],
  ['storageCapacity', 'spec.storageCapacity'],
];

function driverErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const period = optionalNumber(spec, 'nodeAllocatableUpdatePeriodSeconds');
  const isUnused = isSet(spec, 'serviceAccountTokenInSecrets') && isEmpty(spec, 'tokenRequests');
  return [
    ...requiredFlags.filter(([field]) => !isSet(spec, field)).map(([, path]) => required(path, '')),
    ...(isSet(spec, 'fsGroupPolicy')
      ? oneOfErrors('spec.fsGroupPolicy', textOf(spec, 'fsGroupPolicy'), ['File', 'None', 'ReadWriteOnceWithFSType'])
      : []),
    ...tokenRequestErrors(structsOf(spec, 'tokenRequests')),
    ...textsOf(spec, 'volumeLifecycleModes').flatMap((mode) =>
      oneOfErrors('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral']),
    ),
    ...(isSet(spec, 'seLinuxMount') ? [] : [required('spec.seLinuxMount', '')]),
    ...(period !== undefined && period < 10
      ? [invalid('spec.nodeAllocatableUpdatePeriodSeconds', period, 'must be greater than or equal to 10 seconds')]
      : []),
    ...(isUnused
      ? [
          invalid(
            'spec.serviceAccountTokenInSecrets',
            spec['serviceAccountTokenInSecrets'],
            'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
          ),
        ]
      : []),
  ];
}

function tokenRequestErrors(requests: readonly JsonObject[]): FieldError[] {
  const audiences = new Set<string>();
  return requests.flatMap((request, at) => {
    const path = index('spec.tokenRequests', at);
    const audience = textOf(request, 'audience');
    if (audiences.has(audience)) return [duplicate(child(path, 'audience'), audience)];
    audiences.add(audience);
    return tokenLifetimeErrors(child(path, 'expirationSeconds'), optionalNumber(request, 'expirationSeconds'));
  });
}

/** For tokens of service accounts: ten minutes at least. */
export function tokenLifetimeErrors(path: string, seconds: number | undefined): FieldError[] {
  if (seconds === undefined) return [];
  if (seconds < 600) return [invalid(path, seconds, 'may not specify a duration less than 10 minutes')];
  return seconds > 2 ** 32 ? [invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
}

const tokenAdvice =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

const fixed: readonly (readonly [field: string, path: string])[] = [
  ['attachRequired', 'spec.attachedRequired'],
  ['volumeLifecycleModes', 'spec.volumeLifecycleModes'],
];

export const csiDriver: KindValidation = {
  create: driverErrors,
  update: (object, old) => [
    ...driverErrors(object),
    ...fixed.flatMap(([field, path]) =>
      immutableErrors(path, structOf(object, 'spec')[field], structOf(old, 'spec')[field]),
    ),
  ],
  warnings(object, old) {
    const spec = structOf(object, 'spec');
    if (isEmpty(spec, 'tokenRequests') || isSet(spec, 'serviceAccountTokenInSecrets')) return [];
    if (old && equalValues(spec['tokenRequests'], structOf(old, 'spec')['tokenRequests'])) return [];
    return [tokenAdvice];
  },
};

const nodeDrivers = (object: KubeObject): readonly JsonObject[] => structsOf(structOf(object, 'spec'), 'drivers');

function nodeErrors(object: KubeObject): FieldError[] {
  const names = new Set<string>();
  return nodeDrivers(object).flatMap((driver, at) => {
    const path = index('spec.drivers', at);
    const [name, id] = [textOf(driver, 'name'), textOf(driver, 'nodeID')];
    const count = optionalNumber(optionalStruct(driver, 'allocatable'), 'count');
    const isRepeated = names.has(name);
    names.add(name);
    return [
      ...csiDriverNameErrors(child(path, 'name'), name),
      ...requiredErrors(child(path, 'nodeID'), id),
      ...(byteLength(id) > 256 ? [invalid(child(path, 'nodeID'), id, 'must be 256 characters or less')] : []),
      ...(count === undefined ? [] : nonNegativeErrors(child(child(path, 'allocatable'), 'count'), count)),
      ...(isRepeated ? [duplicate(child(path, 'name'), name)] : []),
      ...topologyKeyErrors(path, textsOf(driver, 'topologyKeys')),
    ];
  });
}

function topologyKeyErrors(path: string, keys: readonly string[]): FieldError[] {
  const repeated = repeatedIn(keys);
  return keys.flatMap((name, at) => [
    ...requiredErrors(path, name),
    ...(repeated.has(at) ? [duplicate(path, name)] : []),
    ...qualifiedNameErrors(path, name),
  ]);
}

/** Only the count of volumes may change while a driver stays. */
function driverChangeErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const now = Map.groupBy(nodeDrivers(object), (driver) => textOf(driver, 'name'));
  return nodeDrivers(old).flatMap((before) =>
    (now.get(textOf(before, 'name')) ?? []).flatMap((driver) =>
      immutableErrors('spec.drivers', fixedPart(driver), fixedPart(before)),
    ),
  );
}

/** As the server shows it too. */
const fixedPart = (driver: JsonObject): JsonObject => ({
  Name: textOf(driver, 'name'),
  NodeID: textOf(driver, 'nodeID'),
  TopologyKeys: isSet(driver, 'topologyKeys') ? driver['topologyKeys'] : null,
  Allocatable: null,
});

export const csiNode: KindValidation = {
  create: nodeErrors,
  update: (object, old) => [...nodeErrors(object), ...driverChangeErrors(object, old)],
};

function capacityErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const className = textOf(object, 'storageClassName');
  const invalidValues = labelSelectorErrors('', optionalStruct(old, 'nodeTopology')).length > 0;
  return [
    ...labelSelectorErrors('nodeTopology', optionalStruct(object, 'nodeTopology'), { invalidValues }),
    ...invalidFor('storageClassName', className, dnsSubdomainReasons(className)),
    ...(isSet(object, 'capacity') ? nonNegativeQuantityErrors('capacity', object['capacity']) : []),
  ];
}

export const csiStorageCapacity: KindValidation = {
  create: (object) => capacityErrors(object, undefined),
  update: (object, old) => [
    ...capacityErrors(object, old),
    ...immutableErrors('nodeTopology', object['nodeTopology'], old['nodeTopology']),
    ...immutableErrors('storageClassName', textOf(object, 'storageClassName'), textOf(old, 'storageClassName')),
  ],
  warnings: (object) => selectorWarnings('nodeTopology', optionalStruct(object, 'nodeTopology')),
};
