/** A pod with a scheduling gate has not been scheduled yet: its node constraints can be narrowed. */

import { child, index, invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { has, isSet } from '../base/checks.ts';
import { goMap } from '../base/go-values.ts';
import { equalPointers, equalStructs } from '../../../fields/semantic-equality.ts';
import { serverForm, serverValue } from '../server-form/render.ts';
import type { NodeSelectorTerm, PodSpec } from '../types/pod.ts';

const requiredRules = 'requiredDuringSchedulingIgnoredDuringExecution';

export function checkNodeSelectorGrowth(errors: FieldError[], path: string, spec: PodSpec, old: PodSpec): void {
  const { nodeSelector } = spec;
  const isKept = Object.entries(old.nodeSelector ?? {}).every(
    ([name, value]) => has(nodeSelector, name) && nodeSelector![name] === value,
  );
  if (isKept) return;
  const reason = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  errors.push(invalid(path, goMap(nodeSelector), reason));
}

export function checkNodeAffinityGrowth(errors: FieldError[], path: string, spec: PodSpec, old: PodSpec): void {
  const [affinity, before] = [spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  if (equalPointers('core/v1.NodeAffinity', affinity, before) || !before?.[requiredRules]) return;
  const oldTerms = before[requiredRules].nodeSelectorTerms ?? [];
  const terms = affinity?.[requiredRules]?.nodeSelectorTerms ?? [];
  const at = child(child(path, requiredRules), 'nodeSelectorTerms');
  if (oldTerms.length > 0 && oldTerms.length !== terms.length) {
    const shown = serverValue('[]NodeSelectorTerm', affinity?.[requiredRules]?.nodeSelectorTerms);
    errors.push(invalid(at, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'));
    return;
  }
  for (const [i, oldTerm] of oldTerms.entries()) {
    const term = terms[i]!;
    if (hasOnlyAdditions(term, oldTerm)) continue;
    const reason = 'only additions are allowed (no mutations or deletions)';
    errors.push(invalid(index(at, i), serverForm('NodeSelectorTerm', term), reason));
  }
}

/** An empty term selects nothing, so anything would add nodes to it. */
function hasOnlyAdditions(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = [
    [term.matchExpressions ?? [], old.matchExpressions ?? []],
    [term.matchFields ?? [], old.matchFields ?? []],
  ] as const;
  if (lists.every(([, before]) => before.length === 0)) return lists.every(([now]) => now.length === 0);
  return lists.every(([now, before]) =>
    before.every((one, i) => i < now.length && equalStructs('core/v1.NodeSelectorRequirement', now[i], one)),
  );
}

/** Returns the spec with the old values of the fields that may change at a gate. */
export function withoutNodeChanges(spec: PodSpec, old: PodSpec): PodSpec {
  const restored: PodSpec = { ...spec, nodeSelector: old.nodeSelector ?? null };
  const [affinity, before] = [spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity];
  if (equalPointers('core/v1.NodeAffinity', affinity, before)) return restored;
  const { nodeAffinity: _, ...others } = spec.affinity ?? {};
  const isOnlyNodeAffinity = !isSet(others.podAffinity) && !isSet(others.podAntiAffinity);
  const { affinity: __, ...unbound } = restored;
  if (spec.affinity && !old.affinity && isOnlyNodeAffinity) return unbound;
  return { ...unbound, affinity: { ...(before ? { nodeAffinity: before } : {}), ...others } };
}
