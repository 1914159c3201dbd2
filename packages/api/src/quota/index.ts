/**
 * Usage of objects, and how it counts against a ResourceQuota: the same arithmetic for admission, which charges created objects, and for
 * the controller, which counts existing ones.
 *
 *   amounts.ts         `{cpu: 100m}` as numbers
 *   pod-resources.ts   the needs of a pod at one time
 *   quota.ts usage.ts  a decoded quota; its usage
 *   evaluators/        how objects of each resource count
 */

export * from './amounts.ts';
export { evaluatorOf, resourceCountedBy } from './evaluators/choose.ts';
export type { CountedResource } from './evaluators/choose.ts';
export type { Evaluator, QuotaWrite } from './evaluators/evaluator.ts';
export type {
  AffinityRules,
  AffinityTerm,
  ContainerStatus,
  List,
  Maybe,
  ResourceList,
  Resources,
  SizedContainer,
  SizedPod,
  SizedPodSpec,
  SizedPodStatus,
} from './pod.ts';
export { containersTogether, isExtendedResource, podTotal } from './pod-resources.ts';
export type { PodTotalOptions, Which } from './pod-resources.ts';
export { readQuota } from './quota.ts';
export type { Quota, ScopeSelector } from './quota.ts';
export { isInScope, limitsOf, Tally } from './usage.ts';
export { storageClassOf } from './volume-claim.ts';
export type { Claim } from './volume-claim.ts';
