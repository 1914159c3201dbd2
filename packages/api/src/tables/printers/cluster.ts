/** Leases, classes of priority and runtime, devices, storage versions. */

import type { KubeObject } from '../../object.ts';
import { ageOf, since } from '../age.ts';
import { none } from '../selector-text.ts';
import { firstOf, groupedName, printer, unset } from './printer.ts';
import type { Printers, WithConditions } from './printer.ts';

interface PriorityClass {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

interface LeaseCandidate {
  readonly spec?: {
    readonly leaseName?: string;
    readonly binaryVersion?: string;
    readonly emulationVersion?: string;
  };
}

interface ResourceClaim {
  readonly status?: { readonly allocation?: object; readonly reservedFor?: readonly object[] };
}

interface ResourceSlice {
  readonly spec?: {
    readonly nodeName?: string;
    readonly driver?: string;
    readonly pool?: { readonly name?: string };
  };
}

interface DeviceTaintRule {
  readonly spec?: {
    readonly taint?: {
      readonly key?: string;
      readonly value?: string;
      readonly effect?: string;
      readonly timeAdded?: string;
    };
  };
}

const deviceCounts = ['totalDevices', 'availableDevices', 'allocatedDevices', 'unavailableDevices'] as const;

type PoolStatus = { readonly [Count in (typeof deviceCounts)[number]]?: number } & {
  readonly validationError?: string;
};

interface PoolStatusRequest {
  readonly spec?: { readonly driver?: string };
  readonly status?: WithConditions & { readonly poolCount?: number; readonly pools?: readonly PoolStatus[] };
}

interface StorageVersion {
  readonly status?: {
    readonly commonEncodingVersion?: string;
    readonly storageVersions?: readonly { readonly apiServerID?: string; readonly encodingVersion?: string }[];
  };
}

interface Migration {
  readonly spec?: { readonly resource?: { readonly group?: string; readonly resource?: string } };
  readonly status?: WithConditions;
}

/** Differs from the default printer: these columns show an age and not a time. */
const nameAndAge = printer<object>((object, now) => [object.metadata.name, ageOf(object, now)]);

function claimState({ metadata, status }: KubeObject & ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (status?.allocation) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []));
  else if (!isDeleted) states.push('pending');
  return states.join(',');
}

function poolCells({ status }: PoolStatusRequest, now: number): unknown[] {
  const { conditions = [], pools = [], poolCount = 0 } = status ?? {};
  const end = conditions.find(({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True');
  const isPartial = end?.type === 'Complete' && poolCount > pools.length;
  const hasCounts = status !== undefined && end?.type !== 'Failed';
  const total = (count: (pool: PoolStatus) => number): string =>
    hasCounts ? String(pools.reduce((sum, pool) => sum + count(pool), 0)) : '-';
  return [
    ...deviceCounts.map((name) => total((pool) => pool[name] ?? 0)),
    total((pool) => (pool.validationError === undefined ? 0 : 1)),
    poolCount,
    isPartial ? `Complete (${pools.length}/${poolCount} pools)` : (end?.type ?? 'Pending'),
    end?.type === 'Complete' ? since(end.lastTransitionTime, now) : none,
  ];
}

const migrationStates = new Set(['Running', 'Succeeded', 'Failed']);

export const clusterPrinters: Printers = {
  '/ServiceAccount': nameAndAge,
  'coordination.k8s.io/Lease': printer<{ spec?: { holderIdentity?: string } }>((lease, now) => [
    lease.metadata.name,
    lease.spec?.holderIdentity ?? '',
    ageOf(lease, now),
  ]),
  'coordination.k8s.io/LeaseCandidate': printer<LeaseCandidate>((candidate, now) => [
    candidate.metadata.name,
    candidate.spec?.leaseName ?? '',
    candidate.spec?.binaryVersion ?? '',
    candidate.spec?.emulationVersion ?? '',
    ageOf(candidate, now),
  ]),
  'node.k8s.io/RuntimeClass': printer<{ handler?: string }>((runtimeClass, now) => [
    runtimeClass.metadata.name,
    runtimeClass.handler ?? '',
    ageOf(runtimeClass, now),
  ]),
  'scheduling.k8s.io/PriorityClass': printer<PriorityClass>((priorityClass, now) => [
    priorityClass.metadata.name,
    priorityClass.value ?? 0,
    priorityClass.globalDefault ?? false,
    ageOf(priorityClass, now),
    priorityClass.preemptionPolicy ?? '',
  ]),
  'scheduling.k8s.io/Workload': nameAndAge,
  'resource.k8s.io/DeviceClass': nameAndAge,
  'resource.k8s.io/ResourceClaimTemplate': nameAndAge,
  'resource.k8s.io/ResourceClaim': printer<ResourceClaim>((claim, now) => [
    claim.metadata.name,
    claimState(claim),
    ageOf(claim, now),
  ]),
  'resource.k8s.io/ResourceSlice': printer<ResourceSlice>((slice, now) => [
    slice.metadata.name,
    slice.spec?.nodeName ?? '',
    slice.spec?.driver ?? '',
    slice.spec?.pool?.name ?? '',
    ageOf(slice, now),
  ]),
  'resource.k8s.io/DeviceTaintRule': printer<DeviceTaintRule>((rule, now) => {
    const { key = '', value = '', effect = '', timeAdded } = rule.spec?.taint ?? {};
    const added = timeAdded === undefined ? '' : since(timeAdded, now);
    return [rule.metadata.name, key, value, effect, added, ageOf(rule, now)];
  }),
  'resource.k8s.io/ResourcePoolStatusRequest': printer<PoolStatusRequest>((request, now) => [
    request.metadata.name,
    request.spec?.driver ?? '',
    ...poolCells(request, now),
  ]),
  'internal.apiserver.k8s.io/StorageVersion': printer<StorageVersion>((version, now) => {
    const encodings = (version.status?.storageVersions ?? []).map(
      ({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`,
    );
    return [
      version.metadata.name,
      version.status?.commonEncodingVersion ?? unset,
      firstOf(encodings, 3) || unset,
      ageOf(version, now),
    ];
  }),
  'storagemigration.k8s.io/StorageVersionMigration': printer<Migration>(({ metadata, spec, status }) => [
    metadata.name,
    groupedName(spec?.resource?.resource ?? '', spec?.resource?.group),
    status?.conditions?.findLast(({ type, status }) => status === 'True' && migrationStates.has(type))?.type ??
      'Unknown',
  ]),
};
