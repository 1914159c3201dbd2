/** Step 4: the class, which must exist and allow the mode. Its administrator settings must be valid. */

import { find } from '@hangar/client';
import { ControlPlaneClass } from '../../api/index.ts';
import { authOf, unsupportedAuthModel } from '../../kubeconfig/auth.ts';
import type { Pass, Verdict } from '../world.ts';

export async function classOf(pass: Pass): Promise<Verdict | undefined> {
  const { mode } = pass;
  const { classRef } = pass.controlPlane.spec ?? {};
  if (classRef) {
    pass.class = await find(pass.client, ControlPlaneClass, { name: classRef.name }, { signal: pass.signal });
    if (!pass.class)
      return refused(
        'ClassNotFound',
        `ControlPlaneClass "${classRef.name}" not found: create it, or change spec.classRef`,
      );
    const { modesAllowed = [] } = pass.class.spec ?? {};
    if (modesAllowed.length > 0 && !modesAllowed.includes(mode)) {
      return refused(
        'ModeNotAllowed',
        `ControlPlaneClass "${classRef.name}" does not allow mode ${mode}: use mode ${modesAllowed.join(' or ')}, or another class`,
      );
    }
  }
  const auth = authOf(pass.class);
  if (!auth) {
    const model = pass.class?.spec?.auth?.model;
    return refused(
      unsupportedAuthModel,
      `ControlPlaneClass "${classRef?.name}" has spec.auth.model "${model}": it must be certificate or token`,
    );
  }
  pass.auth = auth;
  return undefined;
}

const refused = (reason: string, message: string): Verdict => ({ type: 'Accepted', reason, message });
