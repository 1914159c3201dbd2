/**
 * Previews the objects of a HostedControlPlane in the newest rendering. A control plane keeps the rendering that it was created with, so
 * this is what its next upgrade changes. Each object is compared with the object in the cluster by a dry run of the apply of the operator:
 * nothing is written.
 */

import { isDeepStrictEqual } from 'node:util';
import { defineKind, find, keyOf } from '@hangar/client';
import type { ApiObject, ApplyConfiguration, Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Service } from '@hangar/client/kinds/core-v1';
import { asError } from '@hangar/core';
import { annotations, clusterApiGroup } from './api/index.ts';
import type { HostedControlPlane, ServiceType } from './api/index.ts';
import { fieldManager } from './control-plane/apply.ts';
import { apiServiceName, newestRendering, planeOf, renderAll, renderings, workloadName } from './render/index.ts';
import type { ClusterObject, Component, Plane, Rendered } from './render/index.ts';

/** A difference between an object in the cluster and the rendered one. */
export interface ObjectChange {
  /** `Deployment team/demo-apiserver`. */
  readonly object: string;
  /** Absent: the object does not exist. */
  readonly before?: ApiObject | undefined;
  /** Absent: the server refuses the change. */
  readonly after?: ApiObject | undefined;
  /** Why the server refuses the change. */
  readonly refusal?: string | undefined;
}

export interface PreviewOptions {
  readonly signal?: AbortSignal | undefined;
  /** A known version. Absent: the newest. */
  readonly rendering?: string | undefined;
}

/** Returns the objects of a rendering, in the order in which they are applied. Rejects with `InvalidVersion`. */
export async function previewObjects(
  client: Client,
  hosted: HostedControlPlane,
  { signal, rendering = newestRendering }: PreviewOptions = {},
): Promise<readonly Rendered[]> {
  const cluster = await clusterOf(client, hosted, signal);
  const name =
    hosted.metadata.annotations?.[annotations.clusterName] ?? cluster?.metadata.name ?? hosted.metadata.name!;
  const named = { name, namespace: hosted.metadata.namespace! };
  const service = await find(client, Service, { ...named, name: apiServiceName(named) }, { signal });
  // The operator has a default for the type; the Service shows it.
  const serviceType = (service?.spec?.type ?? 'LoadBalancer') as ServiceType;
  const plane = planeOf(hosted, { name, cluster, serviceType });
  return renderAll(renderings.get(rendering)!, plane, await filesOf(client, plane, signal));
}

/** Returns the objects that a rendering changes. Requires the right to patch them, for the dry run. */
export async function previewChanges(
  client: Client,
  hosted: HostedControlPlane,
  options: PreviewOptions = {},
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const rendered of await previewObjects(client, hosted, options)) {
    const change = await changeOf(client, rendered, options.signal);
    if (change) changes.push(change);
  }
  return changes;
}

async function changeOf(
  client: Client,
  { kind, object }: Rendered,
  signal: AbortSignal | undefined,
): Promise<ObjectChange | undefined> {
  const { namespace, name } = object.metadata;
  const shown = `${object.kind} ${namespace}/${name}`;
  const found = await find(client, kind, keyOf(object), { signal });
  if (!found) return { object: shown, after: object };
  const before = comparable(found);
  try {
    const options = { fieldManager, force: true, dryRun: true, signal };
    const wanted = withPresentMembers(object, found) as ApplyConfiguration<ApiObject>;
    const after = comparable(await client.apply(kind, wanted, options));
    return isDeepStrictEqual(before, after) ? undefined : { object: shown, before, after };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { object: shown, before, refusal: asError(error).message };
  }
}

/** The pods and the size of volumes of etcd follow its members, not the rendering: they stay. */
function withPresentMembers(object: ApiObject, found: ApiObject): ApiObject {
  if (object.kind !== StatefulSet.kind) return object;
  const { replicas, ordinals, volumeClaimTemplates } = (found as StatefulSet).spec!;
  const present = { replicas, ...(ordinals ? { ordinals } : {}), volumeClaimTemplates };
  return { ...object, spec: { ...(object as StatefulSet).spec, ...present } } as ApiObject;
}

/** Returns the object without fields that the server maintains and without the digest, which changes with every other field. */
function comparable(object: ApiObject): ApiObject {
  const { status: _status, metadata, ...rest } = object as ApiObject & { status?: unknown };
  const { managedFields: _, resourceVersion: _1, generation: _2, ...kept } = metadata;
  const { [annotations.rendered]: _3, ...noted } = kept.annotations ?? {};
  return { ...rest, metadata: { ...kept, annotations: noted } };
}

/** Digests of the files of the components: they follow from keys and do not depend on the rendering. */
async function filesOf(
  client: Client,
  plane: Plane,
  signal: AbortSignal | undefined,
): Promise<Partial<Record<Component, string>>> {
  const components: readonly Component[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  const digests = await Promise.all(
    components.map(async (component) => {
      const key = { namespace: plane.namespace, name: workloadName(plane, component) };
      const workload =
        component === 'etcd'
          ? await find(client, StatefulSet, key, { signal })
          : await find(client, Deployment, key, { signal });
      return [component, workload?.spec?.template?.metadata?.annotations?.[annotations.files] ?? ''] as const;
    }),
  );
  return Object.fromEntries(digests);
}

async function clusterOf(
  client: Client,
  { metadata }: HostedControlPlane,
  signal: AbortSignal | undefined,
): Promise<ClusterObject | undefined> {
  const owner = metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => kind === 'Cluster' && apiVersion.startsWith(`${clusterApiGroup}/`),
  );
  if (!owner) return undefined;
  const { apiVersion } = owner;
  const kind = defineKind<ClusterObject>({ apiVersion, kind: 'Cluster', plural: 'clusters', isNamespaced: true });
  return find(client, kind, { namespace: metadata.namespace, name: owner.name }, { signal });
}
