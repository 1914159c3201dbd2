/**
 * Maps types to files. A package is one file, named by the group's first word; the core group is too long for that: its nested types are in
 * `core/`, by topic, and `core-v1.ts` has its kinds and reexports the rest.
 */

import { apiHome, valuesHome } from './types.ts';
import type { TypeName } from './types.ts';

/** The first match applies. Relative to the kinds' folder. */
const coreFiles: readonly (readonly [file: string, names: RegExp])[] = [
  [
    'core/volumes.ts',
    /VolumeSource$|Projection$|^(Volume|KeyToPath|FileKeySelector|AzureDataDisk.*|HostPathType|DownwardAPIVolumeFile)$/,
  ],
  ['core/storage.ts', /^PersistentVolume|^Claim|^ModifyVolume|^Volume(Node|Resource)|^TypedObjectReference$/],
  [
    'core/scheduling.ts',
    /(?<!Session|Service)Affinity(Term)?$|^NodeSelector|^NodeInclusion|^(Topology|Toleration|Taint)/,
  ],
  [
    'core/scheduling.ts',
    /^(PreferredScheduling|UnsatisfiableConstraint|ScopeSelector|ScopedResource|PreemptionPolicy)/,
  ],
  ['core/nodes.ts', /^Node|^(AttachedVolume|ContainerImage|DaemonEndpoint|ConfigMapNodeConfigSource)$/],
  [
    'core/containers.ts',
    /^(Container|Env|EphemeralContainer|Lifecycle|Probe|LinuxContainer|VolumeMount|VolumeDevice|MountPropagation|ImageVolume)/,
  ],
  ['core/containers.ts', /Action$|Handler$|^(HTTPHeader|Signal|URIScheme|PullPolicy|TerminationMessagePolicy)$/],
  ['core/containers.ts', /^(ConfigMap|Secret)(Env|Key)|^(ObjectField|ResourceField)Selector$/],
  ['core/containers.ts', /^Resource(Requirements|Status|Health|Claim|List)/],
  ['core/security.ts', /^(Security|Capabilit|SELinux|Seccomp|AppArmor|WindowsSecurity|ProcMount|Supplemental|Sysctl)/],
  ['core/security.ts', /^Pod(Security|FSGroup|SELinux)/],
  ['core/pods.ts', /^Pod|^(DNSPolicy|HostAlias|HostIP|RestartPolicy|VolumeStatus)$/],
  ['core/services.ts', /^(Service|Endpoint|LoadBalancer|IPFamily|ClientIP|SessionAffinity|PortStatus|Protocol)/],
];

export function fileOf({ home, name }: TypeName): string {
  if (home === valuesHome) return 'values.ts';
  if (home === 'core/v1') return coreFiles.find(([, names]) => names.test(name))?.[0] ?? 'core/shared.ts';
  return `${home.replace('/', '-')}.ts`;
}

/** Returns the file with a package's kinds, which also reexports its other files. */
export const mainFileOf = (home: string): string => `${home.replace('/', '-')}.ts`;

/** Returns the import specifier: parts of one package import each other, all others import the main file. */
export function specifierOf(file: string, type: TypeName): string {
  if (type.home === apiHome) return '@hangar/api/json';
  const part = fileOf(type);
  const isOwnPart = part.startsWith('core/') && (file.startsWith('core/') || file === mainFileOf(type.home));
  const target = isOwnPart || type.home === valuesHome ? part : mainFileOf(type.home);
  return file.startsWith('core/') ? (isOwnPart ? `./${target.slice(5)}` : `../${target}`) : `./${target}`;
}
