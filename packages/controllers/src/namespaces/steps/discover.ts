/**
 * Discovers the resources that a namespace can contain: built-in, custom and aggregated ones, each in the preferred version. Failed
 * discovery is reported, and does not block the deletion of the rest.
 */

import type { DiscoveredKind, KindMapper } from '@hangar/client';
import type { Findings } from './findings.ts';

/** Rejects when discovery failed completely. */
export async function deletableKinds(
  mapper: KindMapper,
  findings: Findings,
  signal: AbortSignal,
): Promise<DiscoveredKind[]> {
  await mapper.refresh({ signal });
  const kinds = await mapper.all({ signal });
  const { unavailable } = mapper;
  if (unavailable.length > 0) {
    const groups = unavailable.toSorted().map((one) => `${one}: stale GroupVersion discovery: ${one}`);
    findings.discoveryProblem =
      `Discovery failed for some groups, ${unavailable.length} failing: ` +
      `unable to retrieve the complete list of server APIs: ${groups.join(', ')}`;
  }
  // The preferred version of a group comes first.
  const seen = new Set<string>();
  return kinds.filter(({ group, plural, isNamespaced, verbs }) => {
    if (!isNamespaced || !verbs.includes('delete') || seen.has(`${plural}.${group}`)) return false;
    seen.add(`${plural}.${group}`);
    return true;
  });
}
