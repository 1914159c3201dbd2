/** Step 9: the credentials that nodes join with, in Secret `controlplane-<name>-join`. Stored before they are put into the tenant. */

import { joinSecret, isJoinDue, materialOf, newMaterial } from '../../join/material.ts';
import { putSecret } from '../kept-secret.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Verdict } from '../world.ts';

export async function join(pass: Pass): Promise<Verdict | undefined> {
  const { world } = pass;
  const { join: before } = pass.secrets!;
  const material = materialOf(pass, before) ?? newMaterial(world.clock.now(), world.random);
  pass.join = material;
  if (isJoinDue(pass, before)) {
    // A token that cannot be put inside is useless.
    const verdict = suspended(pass);
    if (verdict) return verdict;
    await putSecret(pass, before, joinSecret(pass, material));
  }
  if (pass.isJoinWanted) pass.wakeUps.push(material.renewsAtMs);
  return undefined;
}
