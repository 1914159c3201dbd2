/** Options of a command line that `hangar credential` repeats. */

import type { Call } from '../../command.ts';
import { usage } from '../../errors.ts';
import { platformOf } from '../../platform.ts';

/** Returns the options that select the same management plane from any folder. Throws `Usage`. */
export function connectionWords({ session, given }: Pick<Call, 'session' | 'given'>): string[] {
  const { kubeconfigs } = platformOf(session, given);
  if (kubeconfigs.length > 1)
    throw usage('--exec requires a single kubeconfig of the management plane: add --kubeconfig');
  const context = given.text('context');
  return [`--kubeconfig=${kubeconfigs[0]}`, ...(context === undefined ? [] : [`--context=${context}`])];
}
