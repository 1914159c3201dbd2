/** A control plane put into the user's own kubeconfig, and said so. */

import { contextName } from '../../kubeconfig/access.ts';
import type { MergeOptions } from '../../kubeconfig/merge.ts';
import { mergeIntoUserKubeconfig } from '../../kubeconfig/user-file.ts';
import type { Session } from '../../session.ts';
import { plain } from '../../terminal/plain-text.ts';

export async function mergedWith(session: Session, options: MergeOptions): Promise<void> {
  const { path, hasLostComments } = await mergeIntoUserKubeconfig(session, options);
  const name = contextName(options.controlPlane);
  const done = options.isCurrent ? `kubectl now uses context ${name}` : `context ${name} is`;
  session.out.write(`${done} in ${plain(path)}\n`);
  if (hasLostComments) session.err.write('the comments in that file were not kept\n');
}
