/** Maintains one APIService for each group-version that definitions serve, and deletes those that are no longer served. */

import type { KubeObject } from '@hangar/api';
import { absent } from '@hangar/store';
import { make } from '../bootstrap/make.ts';
import { objectKey } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { apiServiceName, apiServicesName, customApiService, isManaged } from '../resources/api-services.ts';
import { timestamp } from '../verbs/metadata.ts';

/** A conflict means that another replica already made the change. */
export async function registerVersions(plane: ControlPlane, group: string, served: readonly string[]): Promise<void> {
  const resource = plane.catalogue.find(apiServicesName)!;
  for (const version of served) {
    const key = objectKey(plane, resource, '', apiServiceName(group, version));
    if ((await plane.store.get(key)).entry) continue;
    const declared = customApiService(group, version, timestamp(plane.clock)) as unknown as KubeObject;
    const value = resource.stored.encode(make(plane, resource, declared));
    await plane.store.commit([{ type: 'put', key, value, expected: absent }]);
  }
}

export async function removeVersions(plane: ControlPlane, group: string, versions: readonly string[]): Promise<void> {
  const resource = plane.catalogue.find(apiServicesName)!;
  for (const version of versions) {
    const key = objectKey(plane, resource, '', apiServiceName(group, version));
    const { entry } = await plane.store.get(key);
    // APIServices that users registered for their own servers are kept.
    if (entry && isManaged(resource.stored.object(entry)))
      await plane.store.commit([{ type: 'delete', key, expected: entry.modRevision }]);
  }
}
