/** The status of pods, as far as rules check it. See `pod.ts` for the meaning of absent fields. */

import type { List } from '../base/checks.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { ResourceRequirements } from './pod.ts';

export interface ContainerState {
  readonly running?: object;
  readonly waiting?: object;
  readonly terminated?: { readonly exitCode?: number };
}

export interface AllocatedResource {
  readonly name?: string;
  readonly resources?: List<{ readonly resourceID?: string; readonly health?: string; readonly message?: string }>;
}

export interface ContainerStatus {
  readonly name?: string;
  readonly state?: ContainerState;
  readonly resources?: ResourceRequirements;
  readonly user?: {
    readonly linux?: { readonly uid?: number; readonly gid?: number; readonly supplementalGroups?: List<number> };
  };
  readonly allocatedResourcesStatus?: List<AllocatedResource>;
}

export interface ExtendedResourceClaimStatus {
  readonly requestMappings?: List<{
    readonly containerName?: string;
    readonly resourceName?: string;
    readonly requestName?: string;
  }>;
  readonly resourceClaimName?: string;
}

export interface PodStatus {
  readonly observedGeneration?: number;
  readonly conditions?: List<{ readonly type?: string; readonly observedGeneration?: number }>;
  readonly nominatedNodeName?: string;
  readonly hostIP?: string;
  readonly hostIPs?: List<{ readonly ip?: string }>;
  readonly podIPs?: List<{ readonly ip?: string }>;
  readonly qosClass?: string;
  readonly containerStatuses?: List<ContainerStatus>;
  readonly initContainerStatuses?: List<ContainerStatus>;
  readonly ephemeralContainerStatuses?: List<ContainerStatus>;
  readonly resourceClaimStatuses?: List<{ readonly name?: string; readonly resourceClaimName?: string }>;
  readonly extendedResourceClaimStatus?: ExtendedResourceClaimStatus;
  readonly nodeAllocatableResourceClaimStatuses?: List<{
    readonly resourceClaimName?: string;
    readonly containers?: List<string>;
    readonly resources?: ResourceList;
  }>;
}
