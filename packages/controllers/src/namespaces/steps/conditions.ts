/**
 * The five conditions of a namespace that is being deleted, with the reasons and messages of kube-controller-manager, on which users and
 * tests rely. All of them are always present; an unchanged status is not written.
 */

import type { NamespaceCondition } from '@hangar/client/kinds/core-v1';
import type { Findings } from './findings.ts';

interface Said {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

const said = (type: string, bad: [string, string] | undefined, good: [string, string]): Said => {
  const [reason, message] = bad ?? good;
  return { type, isTrue: bad !== undefined, reason, message };
};

function saidOf(findings: Findings): Said[] {
  const { discoveryProblem, contentProblems, remaining, finalizers } = findings;
  const remainingText = remaining.map(({ resource, count }) => `${resource} has ${count} resource instances`);
  const finalizersText = Array.from(finalizers, ([name, count]) => `${name} in ${count} resource instances`);
  return [
    said(
      'NamespaceDeletionDiscoveryFailure',
      discoveryProblem === undefined ? undefined : ['DiscoveryFailed', discoveryProblem],
      ['ResourcesDiscovered', 'All resources successfully discovered'],
    ),
    // Discovery in the client never returns invalid names.
    said('NamespaceDeletionGroupVersionParsingFailure', undefined, [
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ]),
    said(
      'NamespaceDeletionContentFailure',
      contentProblems.length === 0
        ? undefined
        : [
            'ContentDeletionFailed',
            `Failed to delete all resource types, ${contentProblems.length} remaining: ${contentProblems.toSorted().join(', ')}`,
          ],
      ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    ),
    said(
      'NamespaceContentRemaining',
      remaining.length === 0
        ? undefined
        : ['SomeResourcesRemain', `Some resources are remaining: ${remainingText.toSorted().join(', ')}`],
      ['ContentRemoved', 'All content successfully removed'],
    ),
    said(
      'NamespaceFinalizersRemaining',
      finalizers.size === 0
        ? undefined
        : [
            'SomeFinalizersRemain',
            `Some content in the namespace has finalizers remaining: ${finalizersText.toSorted().join(', ')}`,
          ],
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    ),
  ];
}

/** Returns the new conditions; undefined: the current ones are up to date. `now` is RFC 3339. */
export function conditionsOf(
  findings: Findings,
  before: readonly NamespaceCondition[],
  now: string,
): NamespaceCondition[] | undefined {
  const conditions = [...before];
  let isChanged = false;
  for (const { type, isTrue, reason, message } of saidOf(findings)) {
    const status = isTrue ? 'True' : 'False';
    const at = conditions.findIndex((one) => one.type === type);
    const old = conditions[at];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    isChanged = true;
    const lastTransitionTime = old?.status === status && old.lastTransitionTime ? old.lastTransitionTime : now;
    const condition: NamespaceCondition = { type, status, lastTransitionTime, reason, message };
    if (old) conditions[at] = condition;
    else conditions.push(condition);
  }
  return isChanged ? conditions : undefined;
}
