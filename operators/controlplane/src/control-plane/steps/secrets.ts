/**
 * Step 8: reads the results of earlier passes from the two Secrets in the management namespace: their inputs and expiry, and the digests of
 * the objects inside of the tenant. The later steps act only on a difference. A stale cache must not repeat work, so the server is read
 * before anything is done.
 */

import type { Client } from '@hangar/client';
import { bundlesOf } from '../../addons/bundles.ts';
import { kubeconfigSecretName } from '../../api/index.ts';
import { isJoinDue, joinSecretName, materialOf } from '../../join/material.ts';
import { isKubeconfigDue } from '../../kubeconfig/secret.ts';
import { areAddonsDue, isInsideDue } from '../inside-due.ts';
import { readSecret } from '../kept-secret.ts';
import type { Pass, Verdict } from '../world.ts';

export async function secrets(pass: Pass): Promise<Verdict | undefined> {
  // Controllers publish the CA of the kubeconfig to pods, which also connect to the port of the tenant.
  const ca = await pass.plane!.servingCa();
  pass.servingCa = pass.nodes && pass.nodes.ca !== ca ? `${pass.nodes.ca}${ca}` : ca;
  const { addons = [], images, kubeProxy } = pass.class?.spec ?? {};
  const wanted = addons.filter((addon) => !pass.plane!.includedAddons.includes(addon));
  pass.bundles = await bundlesOf(pass.client, wanted, { images, kubeProxy, nodes: pass.nodes });
  pass.secrets = await read(pass, pass.client);
  if (!(await isAnythingDue(pass))) return undefined;
  pass.secrets = await read(pass, pass.apiReader);
  // A control plane is never accessed on the basis of a cache.
  return pass.plane!.verify(pass.signal);
}

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
