/**
 * Rules of pods that are relaxed for objects stored before the rules existed: stored objects stay updatable. The feature gates of
 * Kubernetes 1.36 have their default values; rules that they fix are not listed here.
 */

import type { ObjectMeta } from '../../../object.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkLabelSelector } from '../base/label-selectors.ts';
import { checkLocalPath } from '../base/paths.ts';
import type { Container, PodSpec } from '../types/pod.ts';
import { checkMatchLabelKeys, hasInvalidAffinityValues, hasInvalidNodeAffinityValues } from './affinity.ts';
import { isDeletionCostValid } from './annotations.ts';
import { isHugePagesMultiple } from './resources.ts';
import { hostSysctlReason } from './sysctls.ts';

export interface PodRules {
  /** A pod itself, not the template of one. */
  readonly isPod: boolean;
  readonly allowsInvalidDeletionCost: boolean;
  readonly allowsIndivisibleHugePages: boolean;
  readonly allowsInvalidSelectorValues: boolean;
  readonly allowsInvalidNodeAffinityValues: boolean;
  readonly allowsInvalidSpreadSelectors: boolean;
  readonly hasInvalidSpreadKeys: boolean;
  readonly allowsNonLocalTokenPaths: boolean;
  readonly allowsHostSysctls: boolean;
  readonly allowsUserNamespaceOnHostNetwork: boolean;
  readonly allowsAnySeLinuxChangePolicy: boolean;
  readonly allowsComparingTolerations: boolean;
  readonly allowsDevicesInUserNamespace: boolean;
  readonly allowsRestartingInitContainers: boolean;
}

const strict: PodRules = {
  isPod: false,
  allowsInvalidDeletionCost: false,
  allowsIndivisibleHugePages: false,
  allowsInvalidSelectorValues: false,
  allowsInvalidNodeAffinityValues: false,
  allowsInvalidSpreadSelectors: false,
  hasInvalidSpreadKeys: false,
  allowsNonLocalTokenPaths: false,
  allowsHostSysctls: false,
  allowsUserNamespaceOnHostNetwork: false,
  allowsAnySeLinuxChangePolicy: false,
  allowsComparingTolerations: false,
  allowsDevicesInUserNamespace: false,
  allowsRestartingInitContainers: false,
};

/** Without `old`, the rules for new objects. */
export function podRules(
  isPod: boolean,
  old?: { readonly spec?: PodSpec | undefined; readonly metadata?: ObjectMeta | undefined },
): PodRules {
  if (!old?.spec) return { ...strict, isPod };
  const { spec } = old;
  const containers = allContainers(spec);
  const hasUserNamespace = spec.hostUsers === false;
  return {
    isPod,
    allowsInvalidDeletionCost: !isDeletionCostValid(old.metadata?.annotations),
    allowsIndivisibleHugePages: containers.some(hasIndivisibleHugePages),
    allowsInvalidSelectorValues: hasInvalidAffinityValues(spec.affinity),
    allowsInvalidNodeAffinityValues: hasInvalidNodeAffinityValues(spec.affinity),
    allowsInvalidSpreadSelectors: (spec.topologySpreadConstraints ?? []).some(({ labelSelector }) =>
      finds((errors) => checkLabelSelector(errors, '', labelSelector)),
    ),
    hasInvalidSpreadKeys: (spec.topologySpreadConstraints ?? []).some(({ matchLabelKeys, labelSelector }) =>
      finds((errors) => checkMatchLabelKeys(errors, '', { matchLabelKeys, labelSelector })),
    ),
    allowsNonLocalTokenPaths: hasNonLocalTokenPath(spec),
    allowsHostSysctls: (spec.securityContext?.sysctls ?? []).some(({ name = '' }) => hostSysctlReason(name, spec)),
    allowsUserNamespaceOnHostNetwork: hasUserNamespace && spec.hostNetwork === true,
    allowsAnySeLinuxChangePolicy: spec.securityContext?.seLinuxChangePolicy !== undefined,
    allowsComparingTolerations: (spec.tolerations ?? []).some(({ operator }) => operator === 'Lt' || operator === 'Gt'),
    allowsDevicesInUserNamespace:
      hasUserNamespace && containers.some(({ volumeDevices }) => (volumeDevices?.length ?? 0) > 0),
    allowsRestartingInitContainers: (spec.initContainers ?? []).some(
      ({ restartPolicy, resizePolicy }) =>
        restartPolicy !== 'Always' &&
        (resizePolicy ?? []).some((policy) => policy.restartPolicy === 'RestartContainer'),
    ),
  };
}

export const allContainers = (spec: PodSpec): readonly Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

const finds = (check: (errors: FieldError[]) => void): boolean => {
  const errors: FieldError[] = [];
  check(errors);
  return errors.length > 0;
};

const hasIndivisibleHugePages = ({ resources }: Container): boolean =>
  [resources?.limits, resources?.requests].some((list) =>
    Object.entries(list ?? {}).some(([name, quantity]) => !isHugePagesMultiple(name, quantity)),
  );

const hasNonLocalTokenPath = ({ volumes }: PodSpec): boolean =>
  (volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ serviceAccountToken }) =>
      finds((errors) => serviceAccountToken && checkLocalPath(errors, '', serviceAccountToken.path ?? '')),
    ),
  );
