/** Which evaluator counts the objects of a resource: every resource has one. */

import type { Resource } from '../../../../resources/resource.ts';
import { claimEvaluator } from './claims.ts';
import { deviceClaimEvaluator } from './device-claims.ts';
import { countName, neverInScope } from './evaluator.ts';
import type { Evaluator } from './evaluator.ts';
import { podEvaluator } from './pods.ts';
import { serviceEvaluator } from './services.ts';
import { count } from '../../amounts.ts';

const special: ReadonlyMap<string, Evaluator> = new Map([
  ['/pods', podEvaluator],
  ['/services', serviceEvaluator],
  ['/persistentvolumeclaims', claimEvaluator],
  ['resource.k8s.io/resourceclaims', deviceClaimEvaluator],
]);

/** These are older than `count/`, and have a name of their own. */
const aliased: ReadonlySet<string> = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

/** Nothing that stays, or so much of it that counting would cost more than it saves. */
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

const known = new WeakMap<Resource, Evaluator | 'none'>();

export function evaluatorOf(resource: Resource): Evaluator | undefined {
  let evaluator = known.get(resource);
  if (!evaluator) known.set(resource, (evaluator = choose(resource)));
  return evaluator === 'none' ? undefined : evaluator;
}

function choose({ group, name }: Resource): Evaluator | 'none' {
  const full = `${group}/${name}`;
  return ignored.has(full) ? 'none' : (special.get(full) ?? objectCount(group, name));
}

function objectCount(group: string, resource: string): Evaluator {
  const names = [countName(group, resource), ...(group === '' && aliased.has(resource) ? [resource] : [])];
  const usage = new Map(names.map((name) => [name, count(1)]));
  return {
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    usage: () => usage,
    matchesScope: neverInScope,
  };
}
