/** Selects the policies in force that apply to a request, with their bindings and parameters. */

import { StatusError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { findNamespace } from '../matching/namespaces.ts';
import type { Attributes } from './attributes.ts';
import type { Match } from './match-criteria.ts';
import { collectParams, paramResource } from './params.ts';
import { PolicyProblem } from './problem.ts';
import type { Binding, BoundPolicy, Policy } from './source.ts';

export interface Invocation<Compiled> {
  readonly policy: Policy<Compiled>;
  readonly match: Match;
  readonly binding: Binding;
  /** The policy is evaluated once for each. */
  readonly params: readonly (KubeObject | null)[];
}

/** A policy that applies and cannot be evaluated, unless it ignores errors. */
export interface Failure<Compiled> {
  readonly policy: Policy<Compiled>;
  /** Absent if the policy itself is invalid. */
  readonly binding?: Binding;
  readonly problem: string;
}

export interface Selection<Compiled> {
  readonly invocations: readonly Invocation<Compiled>[];
  readonly failures: readonly Failure<Compiled>[];
}

/** Returns the policies that may match the request, by synchronous checks. Most requests match none. */
export function candidates<Compiled>(
  bound: readonly BoundPolicy<Compiled>[],
  attributes: Attributes,
): readonly Candidate<Compiled>[] {
  return bound.flatMap((one) => {
    const match = one.policy.criteria.match(attributes);
    return match ? [{ ...one, match }] : [];
  });
}

interface Candidate<Compiled> extends BoundPolicy<Compiled> {
  readonly match: Match;
}

/** `plane` holds the namespaces and parameters; the resource of the request may belong to another plane. */
export async function select<Compiled>(
  found: readonly Candidate<Compiled>[],
  attributes: Attributes,
  plane: ControlPlane,
): Promise<Selection<Compiled>> {
  const invocations: Invocation<Compiled>[] = [];
  const failures: Failure<Compiled>[] = [];
  for (const { policy, bindings, match } of found) {
    try {
      if (!(await policy.criteria.selectsNamespace(attributes, plane))) continue;
      const resource = policy.spec.paramKind && paramResource(plane, policy.spec.paramKind);
      for (const binding of bindings) {
        try {
          if (!(await bindingApplies(binding, attributes, plane))) continue;
          const wanted = { plane, resource, ref: binding.spec.paramRef, namespace: attributes.namespace };
          invocations.push({ policy, match, binding, params: await collectParams(wanted) });
        } catch (error) {
          const problem = `failed to configure binding: ${textOf(error)}`;
          if (policy.isStrict) failures.push({ policy, binding, problem });
        }
      }
    } catch (error) {
      if (policy.isStrict) failures.push({ policy, problem: `failed to configure policy: ${textOf(error)}` });
    }
  }
  return { invocations, failures };
}

async function bindingApplies({ criteria }: Binding, attributes: Attributes, plane: ControlPlane): Promise<boolean> {
  if (!criteria) return true;
  return criteria.match(attributes) !== undefined && criteria.selectsNamespace(attributes, plane);
}

/** Other errors are failures of the server, which no policy may ignore. */
function textOf(error: unknown): string {
  if (error instanceof PolicyProblem || error instanceof StatusError) return error.message;
  throw error;
}

/** Returns the value of `namespaceObject`; undefined for cluster-scoped objects. Rejects with 404. */
export async function namespaceObject(
  { namespace, isNamespace }: Attributes,
  plane: ControlPlane,
): Promise<KubeObject | undefined> {
  if (namespace === '' || isNamespace) return undefined;
  return findNamespace(plane, namespace);
}
