/** Reconciles the objects of one Website. Applies instead of updating: fields of other owners stay. */

import { find } from '@hangar/client';
import type { ApiObject, Kind } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Service } from '@hangar/client/kinds/core-v1';
import { controllerReference, isBeingDeleted, isControlledBy, setCondition } from '@hangar/runtime';
import type { ReconcileContext, Request, Result } from '@hangar/runtime';
import { Website } from './website.ts';

/** Kinds that a Website owns, one object each, with the Website's name. */
export const owned: readonly Kind<ApiObject>[] = [ConfigMap, Service, Deployment];

const applied = { fieldManager: 'website-operator', force: true };

export async function reconcile(request: Request, { client, log }: ReconcileContext): Promise<Result | void> {
  const website = await find(client, Website, request);
  // The garbage collector deletes its objects.
  if (!website || isBeingDeleted(website)) return;
  const { name, namespace } = request;
  const { html, replicas = 1 } = website.spec;

  const tell = async (isReady: boolean, reason: string, message: string): Promise<void> => {
    const { generation: observedGeneration } = website.metadata;
    const ready = { type: 'Ready', status: isReady, reason, message, observedGeneration };
    const conditions = setCondition(website.status?.conditions, ready);
    if (conditions === website.status?.conditions) return;
    const status = { url: `http://${name}.${namespace}.svc`, conditions };
    await client.status.apply(Website, { metadata: { name, namespace }, status }, applied);
    log.info('the status changed', { reason, message });
  };

  for (const kind of owned) {
    const there = await find(client, kind, request);
    if (!there || isControlledBy(there, website)) continue;
    await tell(false, 'NameConflict', `${kind.kind} "${name}" already exists and does not belong to this Website`);
    return { requeueAfterMs: 30_000 };
  }

  const labels = { website: name };
  const metadata = { name, namespace, labels, ownerReferences: [controllerReference(website)] };
  await client.apply(ConfigMap, { metadata, data: { 'index.html': html } }, applied);
  await client.apply(Service, { metadata, spec: { selector: labels, ports: [{ port: 80 }] } }, applied);
  const volumes = [{ name: 'page', configMap: { name } }];
  const volumeMounts = [{ name: 'page', mountPath: '/usr/share/nginx/html' }];
  const containers = [{ name: 'nginx', image: 'nginx:1.29', volumeMounts }];
  const template = { metadata: { labels }, spec: { containers, volumes } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  const { status: { readyReplicas = 0 } = {} } = await client.apply(Deployment, { metadata, spec }, applied);

  const isReady = readyReplicas >= replicas;
  const reason = isReady ? 'AllReplicasReady' : 'ReplicasMissing';
  await tell(isReady, reason, `${readyReplicas} of ${replicas} replicas are ready`);
}
