/** One pass over a namespace that is being deleted. See README.md for the steps. */

import { Namespace } from '@hangar/client/kinds/core-v1';
import type { Client, KindMapper } from '@hangar/client';
import { asError, CodedError, eachAtOnce } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { find } from '@hangar/client';
import { conditionsOf } from './steps/conditions.ts';
import { deleteContents } from './steps/delete-contents.ts';
import { deletableKinds } from './steps/discover.ts';
import { Findings } from './steps/findings.ts';

export interface Pass {
  readonly client: Client;
  readonly mapper: KindMapper;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Number of resources that are processed concurrently. */
const kindsAtOnce = 8;
/** The finalizer of the contents of the namespace. */
const contentsFinalizer = 'kubernetes';

/** Returns undefined when it is complete. Rejects with the findings for a retry with back-off. */
export async function reconcileNamespace(pass: Pass, name: string): Promise<Findings | undefined> {
  const { client, signal } = pass;
  const namespace = await find(client, Namespace, { name }, { signal });
  if (!namespace?.metadata.deletionTimestamp) return undefined;
  if (!namespace.spec?.finalizers?.includes(contentsFinalizer)) return undefined;
  const findings = new Findings();
  await deleteAllContents(pass, namespace, findings);
  const told = await tellConditions(pass, namespace, findings);
  if (findings.isFailed) throw failureOf(name, findings);
  if (findings.remaining.length > 0) return findings;
  await finalize(pass, told);
  return undefined;
}

async function deleteAllContents(pass: Pass, namespace: Namespace, findings: Findings): Promise<void> {
  const { client, mapper, clock, signal } = pass;
  const deletedAtMs = Date.parse(namespace.metadata.deletionTimestamp!);
  const sinceSeconds = (clock.now() - deletedAtMs) / 1_000;
  const deleting = { client, namespace: namespace.metadata.name!, sinceSeconds, signal };
  let kinds;
  try {
    kinds = await deletableKinds(mapper, findings, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    findings.discoveryProblem = asError(error).message;
    return;
  }
  // Objects that pods use (accounts, secrets, network policies) must not be deleted before them.
  const pods = kinds.find(({ group, plural }) => group === '' && plural === 'pods');
  if (pods) await deleteContents(deleting, pods, findings);
  if (findings.remaining.length > 0 || findings.contentProblems.length > 0) return;
  const others = kinds.filter((kind) => kind !== pods);
  await eachAtOnce(kindsAtOnce, others, (kind) => deleteContents(deleting, kind, findings));
}

/** Returns the updated namespace. */
async function tellConditions(
  { client, clock, signal }: Pass,
  namespace: Namespace,
  findings: Findings,
): Promise<Namespace> {
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const conditions = conditionsOf(findings, namespace.status?.conditions ?? [], now);
  if (!conditions) return namespace;
  const status = { ...namespace.status, phase: 'Terminating' as const, conditions };
  return client.status.update(Namespace, { ...namespace, status }, { signal });
}

async function finalize({ client, signal }: Pass, namespace: Namespace): Promise<void> {
  const finalizers = namespace.spec!.finalizers!.filter((one) => one !== contentsFinalizer);
  const finalized = { ...namespace, spec: { ...namespace.spec, finalizers } };
  await client.subresource('finalize').update(Namespace, finalized, { signal });
}

const failureOf = (name: string, { discoveryProblem, contentProblems }: Findings): Error => {
  const problems = [...(discoveryProblem === undefined ? [] : [discoveryProblem]), ...contentProblems];
  return new CodedError(
    'NamespaceNotEmptied',
    `failed to delete all content of namespace "${name}": ${problems.join('; ')}`,
  );
};
