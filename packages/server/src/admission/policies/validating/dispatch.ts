/** Evaluates the matching policies and applies the actions of their bindings. */

import { StatusError } from '@hangar/api';
import type { KubeObject, StatusReason } from '@hangar/api';
import type { ControlPlane } from '../../../control-plane.ts';
import { authorizerBindings } from '../../expressions/authorizer.ts';
import { workOf } from '../../expressions/request-work.ts';
import { forbid } from '../../refusal.ts';
import type { Attributes } from '../attributes.ts';
import { PolicyProblem } from '../problem.ts';
import { namespaceObject } from '../selection.ts';
import type { Invocation, Selection } from '../selection.ts';
import { Turns } from '../turns.ts';
import { valuesOf } from '../values.ts';
import type { Told } from '../values.ts';
import { inVersion } from '../versions.ts';
import { AuditNotes } from './audit-notes.ts';
import { evaluatePolicy } from './evaluate.ts';
import type { Verdict } from './evaluate.ts';
import type { ValidatingPolicy } from './policy.ts';

export { compilePolicy } from './policy.ts';

interface Refusal {
  readonly message: string;
  readonly reason: StatusReason;
}

export async function dispatch(
  { invocations, failures }: Selection<ValidatingPolicy>,
  attributes: Attributes,
  plane: ControlPlane,
): Promise<void> {
  const refusals: Refusal[] = failures.map(({ policy, binding, problem }) => ({
    message: deniedBy(policy.name, binding?.name, problem),
    reason: 'Invalid',
  }));
  if (invocations.length > 0) {
    const namespace = await namespaceObject(attributes, plane);
    refusals.push(...(await evaluateAll(invocations, attributes, namespace)));
  }
  const [first] = refusals;
  if (first) throw refusal(attributes, first);
}

const policyText = (policy: string, binding: string | undefined): string =>
  `ValidatingAdmissionPolicy '${policy}'${binding === undefined ? '' : ` with binding '${binding}'`}`;

const deniedBy = (policy: string, binding: string | undefined, why: string): string =>
  `${policyText(policy, binding)} denied request: ${why}`;

/** Returns an error with the message of a 403 and the code of the reason. */
function refusal({ request }: Attributes, { message, reason }: Refusal): StatusError {
  const forbidden = forbid(request, message);
  return new StatusError(reason, forbidden.message, {
    details: { ...forbidden.status.details, causes: [{ message }] },
  });
}

async function evaluateAll(
  invocations: readonly Invocation<ValidatingPolicy>[],
  attributes: Attributes,
  namespace: KubeObject | undefined,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const authorizer = authorizerBindings(attributes.request);
  const notes = new AuditNotes(attributes.request);
  const work = workOf(attributes.request);
  const turns = new Turns(attributes.request.plane.clock);
  for (const invocation of invocations) {
    const { policy, binding, match } = invocation;
    let versioned: Pick<Told, 'object' | 'old'>;
    try {
      versioned = await objectsOf(attributes, invocation);
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      const problem = `failed to configure binding: failed to convert object version: ${error.message}`;
      if (policy.isStrict) refusals.push({ message: deniedBy(policy.name, binding.name, problem), reason: 'Invalid' });
      continue;
    }
    for (const params of invocation.params) {
      await turns.next();
      const pending = policy.compiled.ready(work.clock);
      if (pending) await pending;
      const told: Told = { attributes, match, ...versioned, params, namespace };
      const asRequested = { resource: attributes.resource, kind: match.kind };
      const verdict = await evaluatePolicy(policy.compiled, policy.isStrict, {
        conditions: valuesOf({ ...told, match: asRequested, namespace: undefined }),
        all: valuesOf(told),
        authorizer,
        work,
      });
      refusals.push(...act(invocation, verdict, attributes, notes));
    }
  }
  notes.publish();
  return refusals;
}

async function objectsOf(
  attributes: Attributes,
  { match }: Invocation<ValidatingPolicy>,
): Promise<Pick<Told, 'object' | 'old'>> {
  const { request, object, old } = attributes;
  const shown = (one: KubeObject): Promise<KubeObject> => inVersion(request.plane, one, attributes, match);
  return { object: object && (await shown(object)), old: old && (await shown(old)) };
}

function act(
  { policy, binding }: Invocation<ValidatingPolicy>,
  { denials, annotations, annotationErrors }: Verdict,
  { request }: Attributes,
  notes: AuditNotes,
): Refusal[] {
  const refusals: Refusal[] = [];
  const who = policyText(policy.name, binding.name);
  const actions = (binding.spec['validationActions'] ?? []) as readonly string[];
  for (const denial of denials) {
    const { message, reason } = denial;
    for (const action of actions) {
      if (action === 'Deny') refusals.push({ message: deniedBy(policy.name, binding.name, message), reason });
      else if (action === 'Warn') request.warn(`Validation failed for ${who}: ${message}`);
      else if (action === 'Audit') notes.failed(policy.name, binding.name, actions, denial);
    }
  }
  for (const [key, value] of annotations) notes.add(policy.name, key, value);
  for (const error of annotationErrors)
    refusals.push({ message: deniedBy(policy.name, binding.name, error), reason: 'Invalid' });
  return refusals;
}
