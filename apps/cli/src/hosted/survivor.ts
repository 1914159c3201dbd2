/** Chooses the etcd member to recover from. */

import { failed } from '../errors.ts';
import type { EtcdMember } from '../kinds.ts';
import { quoted } from '../terminal/plain-text.ts';

export interface Survivor {
  readonly survivor: EtcdMember;
  /** Another member that responds and has more data. */
  readonly newer?: EtcdMember | undefined;
}

/** Returns the requested member, or the one with the highest revision. Throws `Failed` if it does not respond. */
export function survivorOf(members: readonly EtcdMember[], requested: string | undefined): Survivor {
  const responding = members
    .filter(({ revision }) => revision !== undefined)
    .toSorted((a, b) => b.revision! - a.revision! || (a.name < b.name ? -1 : 1));
  const [newest] = responding;
  if (!newest) {
    throw failed('no etcd member responds', {
      next: 'repair the pod or the node of a member, or restore a backup: --backup NAME',
    });
  }
  const survivor = requested === undefined ? newest : responding.find(({ name }) => name === requested);
  if (!survivor) {
    const isKnown = members.some(({ name }) => name === requested);
    throw failed(`${quoted(requested!)} ${isKnown ? 'does not respond' : 'is not an etcd member'}`, {
      next: `members that respond: ${responding.map(({ name }) => name).join(', ')}`,
    });
  }
  return { survivor, newer: newest.revision! > survivor.revision! ? newest : undefined };
}
