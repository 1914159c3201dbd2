/**
 * Step 10: the objects inside of the tenant: its administrator and the objects that joining nodes expect. Only when they are missing or
 * outdated: a stable control plane is never accessed. Repeated with new credentials: a user inside may have deleted the account that they
 * are for.
 */

import { asError } from '@hangar/core';
import { writeClusterInfo } from '../../join/cluster-info.ts';
import { untilGranted } from '../../kubeconfig/granted.ts';
import { isKubeconfigDue } from '../../kubeconfig/secret.ts';
import { bootstrapOf, insideText } from '../bootstrap.ts';
import { putInside } from '../inside-object.ts';
import { joinPlace } from '../nodes.ts';
import { isPassing } from '../passing.ts';
import { annotationOf, secretAnnotations } from '../kept-secret.ts';
import { suspended } from '../suspended.ts';
import type { Pass, Verdict } from '../world.ts';

const bootstrapApplied = 'BootstrapApplied';

export async function inside(pass: Pass): Promise<Verdict | undefined> {
  const { world, signal, entrance, plane } = pass;
  const bootstrap = await bootstrapOf(pass);
  const { namespace, objects, token, clusterInfo, digest } = bootstrap;
  const before = annotationOf(pass.secrets!.kubeconfig, secretAnnotations.inside);
  pass.inside = insideText(bootstrap);
  const isThere = before === pass.inside;
  const isRenewed = isKubeconfigDue(pass, pass.secrets!.kubeconfig);
  if (isThere && !isRenewed) return undefined;
  const verdict = suspended(pass);
  if (verdict) return isThere ? undefined : verdict;
  const client = await entrance.client();
  const isNew = before === undefined;
  const put = (object: typeof namespace) => putInside(client, object, { isNew, writes: world.writes, signal });
  if (before?.startsWith(`${digest}/`) && !isRenewed) {
    await put(token);
    return undefined;
  }
  // A new control plane has cluster-info with its first address already.
  const isBornSo = isNew && joinPlace(pass).server === plane!.initialServer;
  const putAll = async (): Promise<void> => {
    await put(namespace);
    await Promise.all([
      ...[...objects, token].map(put),
      ...(isBornSo || clusterInfo === undefined
        ? []
        : [writeClusterInfo(client, clusterInfo, world.writes, { signal })]),
    ]);
    await untilGranted({ tenantClient: client, auth: pass.auth!, clock: world.clock, signal });
  };
  if (!isThere) {
    await putAll();
    return undefined;
  }
  try {
    await putAll();
    pass.withdrawn.push(bootstrapApplied);
  } catch (error) {
    if (signal.aborted || isPassing(error)) throw error;
    // All of it existed before. A webhook of the tenant that refuses everything must not let the credentials expire that can remove it.
    pass.remarks.push({
      type: bootstrapApplied,
      status: false,
      reason: 'ApplyFailed',
      message: asError(error).message,
    });
  }
  return undefined;
}
