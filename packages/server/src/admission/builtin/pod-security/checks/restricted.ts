/** The restricted level: best practices for hardened pods. */

import type { Volume } from '../../pod.ts';
import { procMount } from './baseline.ts';
import {
  containersText,
  namesOf,
  plural,
  quoted,
  settersOf,
  sorted,
  unlessUserNamespace,
  unlessWindows,
} from './check.ts';
import type { Check, Rule } from './check.ts';
import { restrictedSeccompProfile } from './profiles.ts';

const privilegeEscalation: Check = (spec) => {
  const bad = namesOf(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

const capabilities: Check = (spec) => {
  const keeping = namesOf(spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const added = new Set<string>();
  const adding = namesOf(spec, ({ securityContext }) => {
    const others = securityContext?.capabilities?.add?.filter((one) => one !== 'NET_BIND_SERVICE') ?? [];
    for (const one of others) added.add(one);
    return others.length > 0;
  });
  const details = [
    ...(keeping.length > 0 ? [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [`${containersText(adding)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
/** In the order in which the type of a volume is determined. */
const otherVolumes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const isAllowed = (volume: Volume): boolean => allowedVolumes.some((type) => volume[type]);

const volumeTypes: Check = ({ volumes }) => {
  const bad = volumes?.filter((volume) => !isAllowed(volume)) ?? [];
  if (bad.length === 0) return undefined;
  const types = new Set(bad.map((volume) => otherVolumes.find((type) => volume[type]) ?? 'unknown'));
  const names = bad.map(({ name = '' }) => name);
  const what = plural('restricted volume type', 'restricted volume types', types.size);
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad.length)} ${quoted(names)} ${plural('uses', 'use', bad.length)} ${what} ${quoted(sorted(types))}`,
  };
};

const runAsNonRoot: Check = (spec) => {
  const reason = 'runAsNonRoot != true';
  const setters = settersOf(spec, (context) => context.runAsNonRoot === false);
  if (setters.length > 0) {
    return { reason, detail: `${setters.join(' and ')} must not set securityContext.runAsNonRoot=false` };
  }
  if (spec.securityContext?.runAsNonRoot === true) return undefined;
  const bad = namesOf(spec, ({ securityContext }) => securityContext?.runAsNonRoot !== true);
  if (bad.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(bad)} must set securityContext.runAsNonRoot=true` };
};

const runAsUser: Check = (spec) => {
  const setters = settersOf(spec, (context) => context.runAsUser === 0);
  if (setters.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${setters.join(' and ')} must not set runAsUser=0` };
};

/** Sorted by id, which is the order of the reported violations. */
export const restrictedRules: readonly Rule[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, check: privilegeEscalation },
      { since: 25, check: unlessWindows(privilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 22, check: capabilities, overrides: 'capabilities_baseline' },
      { since: 25, check: unlessWindows(capabilities), overrides: 'capabilities_baseline' },
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    versions: [{ since: 35, check: procMount, overrides: 'procMount' }],
  },
  {
    id: 'restrictedVolumes',
    level: 'restricted',
    versions: [{ since: 0, check: volumeTypes, overrides: 'hostPathVolumes' }],
  },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: unlessUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: unlessUserNamespace(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 19, check: restrictedSeccompProfile, overrides: 'seccompProfile_baseline' },
      { since: 25, check: unlessWindows(restrictedSeccompProfile), overrides: 'seccompProfile_baseline' },
    ],
  },
];
