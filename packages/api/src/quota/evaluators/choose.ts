/** Selects the evaluator of a resource, and the resource of a limit. */

import { count } from '../amounts.ts';
import { claimEvaluator } from './claims.ts';
import { deviceClaimEvaluator } from './device-claims.ts';
import { countName, neverInScope } from './evaluator.ts';
import type { Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { serviceEvaluator } from './services.ts';

export interface CountedResource {
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
}

const special: readonly (CountedResource & { readonly evaluator: Evaluator })[] = [
  { group: '', resource: 'pods', evaluator: podEvaluator },
  { group: '', resource: 'services', evaluator: serviceEvaluator },
  { group: '', resource: 'persistentvolumeclaims', evaluator: claimEvaluator },
  { group: 'resource.k8s.io', resource: 'resourceclaims', evaluator: deviceClaimEvaluator },
];

/** These are older than `count/`, and have their own names. */
const aliased: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** Resources that are not stored, or so many that counting them would cost more than it saves. */
const ignored: ReadonlySet<string> = new Set([
  '/bindings',
  '/componentstatuses',
  '/events',
  'events.k8s.io/events',
  'authentication.k8s.io/tokenreviews',
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/subjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
]);

/** Returns undefined for resources that no quota counts; every other resource has an evaluator. */
export function evaluatorOf({ group, resource }: CountedResource): Evaluator | undefined {
  if (ignored.has(`${group}/${resource}`)) return undefined;
  const found = special.find((one) => one.resource === resource && one.group === group);
  return found?.evaluator ?? objectCount(group, resource);
}

const countPrefix = 'count/';

/**
 * `requests.cpu` limits pods, `count/widgets.example.com` limits widgets. Returns undefined if no known resource counts against the limit.
 */
export function resourceCountedBy(limit: string): CountedResource | undefined {
  const found = special.find(({ evaluator }) => evaluator.counts(limit));
  if (found) return { group: found.group, resource: found.resource };
  if (aliased.has(limit)) return { group: '', resource: limit };
  if (!limit.startsWith(countPrefix)) return undefined;
  const [resource, ...rest] = limit.slice(countPrefix.length).split('.');
  const named = { group: rest.join('.'), resource: resource! };
  return ignored.has(`${named.group}/${named.resource}`) ? undefined : named;
}

function objectCount(group: string, resource: string): Evaluator {
  const names = [countName(group, resource), ...(group === '' && aliased.has(resource) ? [resource] : [])];
  const usage = new Map(names.map((name) => [name, count(1)]));
  return {
    isPlainCount: true,
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    usage: () => usage,
    matchesScope: neverInScope,
  };
}
