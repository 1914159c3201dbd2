/**
 * 8. What was done before, as the two Secrets in the management namespace say: what they were made of and when they end, and what is
 * inside of the tenant. Everything behind this step does something only when that is not as it should be. A cache that is behind must
 * not make it be done twice, so the server is asked before anything is.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { bundlesOf } from '../../addons/bundles.ts';
import { kubeconfigSecretName } from '../../api/index.ts';
import { isJoinDue, joinSecretName, materialOf } from '../../join/material.ts';
import { isKubeconfigDue } from '../../kubeconfig/secret.ts';
import { areAddonsDue, isInsideDue } from '../inside-due.ts';
import { isClaimedBy } from '../claim.ts';
import { readSecret } from '../kept-secret.ts';
import { Tenant } from '../../host/index.ts';
import type { Pass, Verdict } from '../world.ts';

export async function secrets(pass: Pass): Promise<Verdict | undefined> {
  pass.servingCa = await pass.world.host.servingCa();
  pass.bundles = await bundlesOf(pass.client, pass.class?.spec?.addons ?? []);
  pass.secrets = await read(pass, pass.client);
  // For a tenant that is a moment old nobody has done anything.
  if (pass.isTenantNew || !(await isAnythingDue(pass))) return undefined;
  pass.secrets = await read(pass, pass.apiReader);
  return (await isStillOurs(pass)) ? undefined : replaced(pass);
}

/** Nobody's tenant is entered on the word of a cache. */
async function isStillOurs({ world, path, tenant, controlPlane, signal }: Pass): Promise<boolean> {
  const there = await find(world.host.client, Tenant, { name: path }, { signal });
  return there !== undefined && there.metadata.uid === tenant!.metadata.uid && isClaimedBy(there, controlPlane);
}

const replacedLookMs = 1_000;
const replaced = ({ path }: Pass): Verdict => ({
  type: 'Programmed',
  reason: 'TenantTerminating',
  message: `Tenant "${path}" was deleted or replaced, retrying`,
  lookAgainMs: replacedLookMs,
});

async function read(pass: Pass, reader: Pick<Client, 'get'>): Promise<NonNullable<Pass['secrets']>> {
  const name = pass.controlPlane.metadata.name!;
  const [kubeconfig, join] = await Promise.all([
    readSecret(reader, pass, kubeconfigSecretName(name)),
    readSecret(reader, pass, joinSecretName(name)),
  ]);
  return { kubeconfig, join };
}

async function isAnythingDue(pass: Pass): Promise<boolean> {
  const { kubeconfig, join } = pass.secrets!;
  if (isJoinDue(pass, join) || isKubeconfigDue(pass, kubeconfig) || areAddonsDue(pass)) return true;
  return isInsideDue({ ...pass, join: materialOf(pass, join)! });
}
