/**
 * `RetainedTenant`: the data of a tenant that was deleted with the policy Retain. Served by the management plane, from the data in the
 * store:
 *
 *     kubectl get retainedtenants            path, objects, size, age
 *     kubectl delete retainedtenant demo     destroys the data
 *
 * A new tenant of the same name takes over the data, and the RetainedTenant disappears. Watch is not supported.
 *
 * Materialised data is listed, but its deletion returns 409: a kube-apiserver may serve it.
 */

import { conflict } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { servedDefinition } from '../../definitions/served.ts';
import { declareKind } from '../../library/kind.ts';
import type { Kind } from '../../library/kind.ts';
import { planeWithStorage } from '../../library/plane.ts';
import { DeclaredResource } from '../../library/resource.ts';
import type { ServedDefinition } from '../../resources/catalogue.ts';
import { customDeletion } from '../../resources/custom.ts';
import type { DeletionRules } from '../../resources/resource.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantGroup, tenantVersion } from '../tenant.ts';
import { RetainedStorage } from './storage.ts';

export const retainedName = { group: tenantGroup, version: tenantVersion, resource: 'retainedtenants' };

export const retainedKind = (): Kind =>
  declareKind({
    group: tenantGroup,
    version: tenantVersion,
    kind: 'RetainedTenant',
    plural: retainedName.resource,
    shortNames: ['rtn'],
    scope: 'Cluster',
    schema: {
      type: 'object',
      description:
        'Data of a deleted tenant. Its name is the path. Delete it to destroy the data. The deletion of materialised data is refused.',
      properties: {
        status: {
          type: 'object',
          description: 'Observed state.',
          properties: {
            retainedSince: { type: 'string', format: 'date-time', description: 'When the tenant was deleted.' },
            objects: { type: 'integer', format: 'int64', description: 'Objects of the tenant.' },
            storedBytes: { type: 'integer', format: 'int64', description: 'Bytes of all objects and their names.' },
            isMaterialised: {
              type: 'boolean',
              description:
                'The base objects are written into the data, so a kube-apiserver may serve it. To destroy the data, create the Tenant again with deletionPolicy Destroy and delete it.',
            },
          },
        },
      },
    } as never,
    columns: [
      { name: 'Objects', type: 'integer', jsonPath: '.status.objects' },
      { name: 'Bytes', type: 'integer', jsonPath: '.status.storedBytes' },
      { name: 'Materialised', type: 'boolean', jsonPath: '.status.isMaterialised' },
      { name: 'Age', type: 'date', jsonPath: '.status.retainedSince' },
    ],
  });

export function servedRetained(
  world: TenantWorld,
  root: ControlPlane,
  isTenant: (path: string) => boolean,
): ServedDefinition {
  const storage = new RetainedStorage(world, isTenant);
  return servedDefinition(
    retainedKind().definition,
    (...all) => new RetainedResource(storage, (resource) => planeWithStorage(root, storage, resource), ...all),
  );
}

class RetainedResource extends DeclaredResource {
  override readonly deletion: DeletionRules = { ...customDeletion, onDelete: refuseMaterialised };
}

/**
 * Throws 409 for materialised data. The object shows the identity, and the deletion commits only if the identity is unchanged, so this also
 * refuses data that is materialised during its deletion.
 */
function refuseMaterialised({ metadata: { name = '' }, status }: KubeObject): void {
  if (!(status as { isMaterialised?: boolean }).isMaterialised) return;
  throw conflict(
    retainedName,
    name,
    'the data is materialised, so a kube-apiserver may serve it. ' +
      `To destroy the data, create Tenant "${name}" again with spec.deletionPolicy Destroy and delete it`,
  );
}
