/** Applies the matching policies to the object of a request in order. Each sees the changes of those before it. */

import { isDeepStrictEqual } from 'node:util';
import { StatusError } from '@hangar/api';
import type { JsonObject, KubeObject, StatusReason } from '@hangar/api';
import type { CelBindings } from '@hangar/cel';
import type { ControlPlane } from '../../../control-plane.ts';
import type { MutationRounds } from '../../admission.ts';
import { authorizerBindings } from '../../expressions/authorizer.ts';
import { workOf } from '../../expressions/request-work.ts';
import type { RequestWork } from '../../expressions/request-work.ts';
import { forbid } from '../../refusal.ts';
import { Activation, Budget, policyCostLimit } from '../activation.ts';
import type { Attributes } from '../attributes.ts';
import { conditionsHold } from '../match-conditions.ts';
import { PolicyProblem } from '../problem.ts';
import { namespaceObject } from '../selection.ts';
import type { Invocation, Selection } from '../selection.ts';
import { Turns } from '../turns.ts';
import { joinedValues, valuesOf } from '../values.ts';
import type { Told } from '../values.ts';
import { applyConfiguration } from './apply-configuration.ts';
import { changedKind } from './changed-kind.ts';
import type { ChangedKind } from './changed-kind.ts';
import { applyOperations } from './json-patch.ts';
import type { MutatingPolicy, Mutation } from './policy.ts';
import type { Reinvocation } from './reinvocation.ts';
import { ChangingObject } from './changing-object.ts';

export { compilePolicy } from './policy.ts';

export interface MutationContext {
  readonly attributes: Attributes;
  readonly plane: ControlPlane;
  readonly rounds: MutationRounds;
  readonly reinvocation: Reinvocation;
}

interface Refusal {
  readonly message: string;
  /** Status reason of the response; the code is always 403. */
  readonly reason: StatusReason;
}

export async function dispatch(selection: Selection<MutatingPolicy>, context: MutationContext): Promise<void> {
  const refusals: Refusal[] = selection.failures.map(({ policy, binding, problem }) => ({
    message: `policy ${binding ? `'${policy.name}' with binding '${binding.name}'` : `"${policy.name}"`} denied request: ${problem}`,
    reason: 'Forbidden',
  }));
  if (selection.invocations.length > 0) refusals.push(...(await invokeAll(selection.invocations, context)));
  if (refusals.length > 0) throw refusal(context.attributes, refusals);
}

function refusal({ request }: Attributes, refusals: readonly Refusal[]): StatusError {
  const { status } = forbid(request, '');
  const [{ message, reason }] = refusals as [Refusal, ...Refusal[]];
  const causes = refusals.map((one) => ({ message: one.message }));
  return new RefusedByPolicy(reason, message, { ...status.details, causes });
}

/** The code is 403 for every reason. */
class RefusedByPolicy extends StatusError {
  override readonly status: StatusError['status'];

  constructor(reason: StatusReason, message: string, details: NonNullable<StatusError['status']['details']>) {
    super(reason, message, { details });
    this.status = { ...new StatusError(reason, message, { details }).status, code: 403 };
  }
}

async function invokeAll(
  invocations: readonly Invocation<MutatingPolicy>[],
  context: MutationContext,
): Promise<Refusal[]> {
  const { attributes, plane } = context;
  const namespace = await namespaceObject(attributes, plane);
  const authorizer = authorizerBindings(attributes.request);
  const work = workOf(attributes.request);
  const turns = new Turns(attributes.request.plane.clock);
  const object = new ChangingObject(attributes);
  const refusals: Refusal[] = [];
  for (const invocation of invocations) {
    for (const params of invocation.params) {
      await turns.next();
      const pending = invocation.policy.compiled.ready(work.clock);
      if (pending) await pending;
      const problems = await invoke({ ...context, invocation, params, namespace, authorizer, object, work });
      const { policy, binding } = invocation;
      // A policy that ignores errors keeps the changes it made.
      if (!policy.isStrict) continue;
      const who = `policy '${policy.name}' with binding '${binding.name}'`;
      refusals.push(
        ...problems.map((problem): Refusal => ({ message: `${who} denied request: ${problem}`, reason: 'Invalid' })),
      );
    }
  }
  if (object.wasWritten) {
    context.reinvocation.objectChanged();
    context.rounds.needsSecond = true;
    object.settle();
  }
  return refusals;
}

interface OneInvocation extends MutationContext {
  readonly invocation: Invocation<MutatingPolicy>;
  readonly params: KubeObject | null;
  readonly namespace: KubeObject | undefined;
  readonly authorizer: CelBindings;
  readonly object: ChangingObject;
  readonly work: RequestWork;
}

/** Returns the error of each mutation that failed. */
async function invoke(one: OneInvocation): Promise<string[]> {
  const { attributes, invocation, params, rounds, reinvocation, object } = one;
  const { match, policy } = invocation;
  const { compiled } = policy;
  const asRequested = { resource: attributes.resource, kind: match.kind };
  const told = { attributes, match: asRequested, params, namespace: undefined };
  try {
    const values = valuesOf({ ...told, object: await object.in(match), old: await object.oldIn(match) });
    if (!(await conditionsHold(compiled.conditions, joinedValues(values, one.authorizer), one.work))) return [];
  } catch (error) {
    if (error instanceof PolicyProblem) return [error.message];
    throw error;
  }
  const key = keyOf(invocation, params);
  if (rounds.isSecond && !reinvocation.isDue(key)) return [];
  const before = await object.in(match);
  const problems = await mutateAll(one, compiled);
  if (!isDeepStrictEqual(before, await object.in(match))) {
    reinvocation.objectChanged();
    rounds.needsSecond = true;
  }
  if (compiled.isReinvoked) reinvocation.asked(key);
  return problems;
}

const keyOf = ({ policy, binding }: Invocation<MutatingPolicy>, params: KubeObject | null): string =>
  [policy.name, binding.name, params?.metadata.namespace ?? '', params?.metadata.name ?? ''].join('/');

async function mutateAll(one: OneInvocation, { mutations, variables }: MutatingPolicy): Promise<string[]> {
  const { attributes, invocation, params, namespace, authorizer, object } = one;
  const { match } = invocation;
  const problems: string[] = [];
  const kind = changedKind(attributes, match);
  for (const mutation of mutations) {
    const current = await object.in(match);
    if (!current) continue;
    const told: Told = { attributes, match, object: current, old: await object.oldIn(match), params, namespace };
    try {
      const limits = { budget: new Budget(policyCostLimit), work: one.work };
      const activation = new Activation(joinedValues(valuesOf(told), authorizer), variables, limits);
      await object.write(match, read(kind, mutation, await patched(kind, mutation, current, activation)));
    } catch (error) {
      if (!(error instanceof PolicyProblem)) throw error;
      problems.push(error.message);
    }
  }
  return problems;
}

async function patched(
  kind: ChangedKind,
  { type, expression }: Mutation,
  object: KubeObject,
  activation: Activation,
): Promise<JsonObject> {
  if (!expression.program) throw new PolicyProblem(expression.problem);
  const outcome = await activation.evaluate(expression);
  if (outcome.error !== undefined) throw new PolicyProblem(outcome.error);
  return activation.convert(() =>
    type === 'JSONPatch' ? applyOperations(object, outcome.value) : applyConfiguration(kind, object, outcome.value),
  );
}

/** The result of a patch must be an object of the kind. Otherwise the policy is invalid, and the error is never ignored. */
function read(kind: ChangedKind, { type }: Mutation, value: JsonObject): KubeObject {
  const { object, error, problems } = kind.read(value, undefined);
  if (error !== undefined) throw broken(error);
  if (type === 'JSONPatch' && kind.isStrict && problems.length > 0) {
    throw broken(`strict decoding error: ${problems.join(', ')}`);
  }
  kind.applyDefaults(object);
  return object;
}

const broken = (why: string): StatusError =>
  new StatusError('InternalError', `Internal error occurred: ${why}`, { details: { causes: [{ message: why }] } });
