/** The core group except pods, services and storage. */

import { namespaceNameLabel } from '../../defaults/core.ts';
import { isAbsent, objectAt, objectsAt, put, stringsAt, structAt } from '../../defaults/access.ts';
import type { KubeObject } from '../../object.ts';
import { nameIsLabel, nameIsPathSegment } from '../../validation/formats.ts';
import { restore } from '../metadata.ts';
import type { KindRules } from '../rules.ts';

export const coreRules: Readonly<Record<string, KindRules>> = {
  // Events of the core group were never checked for their names; events.k8s.io does.
  Event: { name: nameIsPathSegment, createsOnUpdate: true },
  'events.k8s.io/Event': { createsOnUpdate: true },
  LimitRange: { createsOnUpdate: true },
  Namespace: {
    name: nameIsLabel,
    create: createNamespace,
    update: (object, old) => {
      restore(object, old, 'spec.finalizers');
      labelWithName(object);
    },
    subresources: { finalize: { update: (object, old) => restore(object, old, 'status'), resets: ['status'] } },
  },
  Node: { keepsStatusOnCreate: true, create: createNode, update: updateNode, updateStatus: updateNodeStatus },
  ServiceAccount: { create: cleanSecrets, update: cleanSecrets },
  'discovery.k8s.io/EndpointSlice': {
    generation: { first: 1, of: ['addressType', 'endpoints', 'ports', 'metadata.labels'] },
    create: dropTopology,
    update: dropTopology,
  },
};

const kubernetesFinalizer = 'kubernetes';

function createNamespace(object: KubeObject): void {
  object['status'] = { phase: 'Active' };
  const spec = structAt(object, 'spec');
  const finalizers = stringsAt(spec, 'finalizers');
  // Its contents must be deleted first.
  if (!finalizers.includes(kubernetesFinalizer)) spec['finalizers'] = [...finalizers, kubernetesFinalizer];
  labelWithName(object);
}

function labelWithName({ metadata }: KubeObject): void {
  if (metadata.name !== undefined) put((metadata.labels ??= {}), namespaceNameLabel, metadata.name);
}

/** Kubelet configuration through the API was removed; existing fields may stay. */
function createNode(object: KubeObject): void {
  const spec = objectAt(object, 'spec');
  const status = objectAt(object, 'status');
  if (spec !== undefined) delete spec['configSource'];
  if (status !== undefined) delete status['config'];
}

function updateNode(object: KubeObject, old: KubeObject): void {
  const spec = objectAt(object, 'spec');
  if (spec !== undefined && isAbsent(objectAt(old, 'spec')?.['configSource'])) delete spec['configSource'];
}

function updateNodeStatus(object: KubeObject, old: KubeObject): void {
  const status = objectAt(object, 'status');
  if (status !== undefined && isAbsent(objectAt(old, 'status')?.['config'])) delete status['config'];
}

/** Only the name of a reference to a secret is kept. */
function cleanSecrets(object: KubeObject): void {
  const secrets = objectsAt(object, 'secrets');
  if (secrets.length > 0) object['secrets'] = secrets.map(({ name }) => (isAbsent(name) ? {} : { name }));
}

/** v1 keeps values without a field in `deprecatedTopology`, which is read-only. */
function dropTopology(object: KubeObject): void {
  for (const endpoint of objectsAt(object, 'endpoints')) delete endpoint['deprecatedTopology'];
}
