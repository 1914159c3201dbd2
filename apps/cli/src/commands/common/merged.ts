/** Changes the contexts of the user's own kubeconfig, and reports it. */

import { existsSync } from 'node:fs';
import { asError } from '@hangar/core';
import { contextName } from '../../kubeconfig/access.ts';
import { mergedKubeconfig, switchedBack, withoutControlPlane } from '../../kubeconfig/merge.ts';
import type { MergeOptions } from '../../kubeconfig/merge.ts';
import { changeUserKubeconfig, userKubeconfig } from '../../kubeconfig/user-file.ts';
import type { Changed } from '../../kubeconfig/user-file.ts';
import type { ControlPlaneObject } from '../../kinds.ts';
import type { Session } from '../../session.ts';
import { plain } from '../../terminal/plain-text.ts';

export async function mergedWith(session: Session, options: MergeOptions): Promise<void> {
  const changed = await changeUserKubeconfig(session, (before) => mergedKubeconfig(before, options));
  const name = contextName(options.controlPlane);
  const done = options.isCurrent ? `kubectl now uses context ${name}` : `context ${name} is`;
  session.out.write(`${done} in ${plain(changed.path)}\n`);
  reportComments(session, changed);
}

/** `hangar use -`. */
export async function usePrevious(session: Session): Promise<void> {
  const changed = await changeUserKubeconfig(session, switchedBack);
  const context = String(changed.after?.['current-context']);
  session.out.write(`kubectl now uses context ${plain(context)} in ${plain(changed.path)}\n`);
  reportComments(session, changed);
}

/** Removes the context that `hangar use` added for a control plane that was deleted. Does not reject: the deletion is done. */
export async function removeContext(session: Session, { metadata, status }: ControlPlaneObject): Promise<void> {
  if (!existsSync(userKubeconfig(session))) return;
  const servers = [status?.endpoint, ...(status?.endpoints ?? []).map(({ url }) => url)].filter(
    (one) => one !== undefined,
  );
  const controlPlane = metadata.name!;
  try {
    const changed = await changeUserKubeconfig(session, (before) =>
      withoutControlPlane(before, { controlPlane, servers }),
    );
    if (!changed.isChanged) return;
    session.err.write(`context ${contextName(controlPlane)} removed from ${plain(changed.path)}\n`);
    reportComments(session, changed);
  } catch (error) {
    session.err.write(`context ${contextName(controlPlane)} was not removed: ${plain(asError(error).message)}\n`);
  }
}

function reportComments({ err }: Session, { hasLostComments }: Changed): void {
  if (hasLostComments) err.write('the comments in that file were not kept\n');
}
