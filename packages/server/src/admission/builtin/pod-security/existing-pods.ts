/** Warns which existing pods violate a stricter level that is set on their namespace. */

import { quote } from '@hangar/api';
import { collectionPrefix } from '../../../control-plane.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import { prefixRange } from '@hangar/store';
import { specOf } from '../pod.ts';
import { reasonText, violationsOf } from './evaluate.ts';
import { levelText } from './policy.ts';
import type { LevelVersion } from './policy.ts';

/** Bounds the number of checked pods and the time spent on them. */
const podsMax = 3_000;
const timeoutMs = 1_000;

const pods = { group: '', version: 'v1', resource: 'pods' };

export async function warningsForPods(
  plane: ControlPlane,
  namespace: string,
  enforce: LevelVersion,
): Promise<string[]> {
  const resource = plane.catalogue.find(pods)!;
  const { entries } = await plane.store.range(prefixRange(collectionPrefix(plane, resource, namespace)));
  const untilMs = plane.clock.now() + timeoutMs;
  const byReason = new Map<string, { first: string; count: number }>();
  let checked = 0;
  for (const entry of entries.slice(0, podsMax)) {
    checked++;
    const pod = resource.stored.object(entry);
    const reason = reasonText(violationsOf(enforce, pod.metadata, specOf(pod)));
    if (reason !== '') {
      const { name = '' } = pod.metadata;
      const known = byReason.get(reason);
      byReason.set(reason, known ? { ...known, count: known.count + 1 } : { first: name, count: 1 });
    }
    if (plane.clock.now() > untilMs) break;
  }
  const warnings: string[] = [];
  if (checked < entries.length) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${checked} of ${entries.length} existing pods`,
    );
  }
  if (byReason.size > 0) {
    warnings.push(
      `existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${quote(levelText(enforce))}`,
    );
  }
  const told = [...byReason].map(([reason, { first, count }]) => `${first}${others(count - 1)}: ${reason}`);
  return [...warnings, ...told.sort()];
}

const others = (count: number): string =>
  count === 0 ? '' : count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`;
