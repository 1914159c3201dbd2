/**
 * `POST …/tenants/demo/restore` with a backup as the body: creates the tenant `demo` from it, completely or not at all. UIDs, times and
 * owners of objects are preserved. resourceVersions are new, and so are the tenant's keys, unless the backup contains them and the path is
 * the same. `?spec=` sets the spec of the new tenant, as JSON; `?deletionPolicy=` and `?suspension=` set fields of it. `?restoreId=` becomes
 * an annotation of the tenant; a repeated request with the same ID returns the tenant. A restore also requires permission to `create`
 * `tenants`. `?replace=true` replaces the data of an existing tenant instead; see `replace.ts`.
 */

import { conflict } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import { absent, readTransfer } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import type { Allocation } from '../../allocation/allocation.ts';
import { objectKey } from '../../control-plane.ts';
import type { Answer } from '../../http/message.ts';
import { entryAnswer, wantedBy } from '../../objects/answers.ts';
import { decodeObject } from '../../objects/decode.ts';
import { writeOptions } from '../../request/options.ts';
import type { WriteOptions } from '../../request/options.ts';
import { warn } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { createObject, ownFields } from '../../verbs/create.ts';
import { encodeIdentity } from '../identity.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import { hostsOf } from '../kind/birth.ts';
import { HostClaims } from '../kind/host-claims.ts';
import { insistOnCreate } from '../kind/insist.ts';
import { sentObject } from '../kind/sent-object.ts';
import { markMaterialised } from '../materialise.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { RoutedRequest } from '../routed-request.ts';
import { tenantsName } from '../tenant.ts';
import { decodeAbout } from './about.ts';
import type { BackupAbout } from './about.ts';
import { Import } from './import.ts';
import { refused } from './refused.ts';
import { replaceOperation } from './replace.ts';
import { givenRestoreId, restoreIdAnnotation } from './restore-id.ts';
import { restoredEntries } from './restored-entries.ts';
import { upload } from './upload.ts';

export const restoreOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    if (call.query.flag('replace') ?? false) return replaceOperation(world)(call);
    const want = wantedBy(call);
    const options = writeOptions(call.query, 'CreateOptions');
    await insistOnCreate(call, '');
    const creation = asCreation(call);
    const object = await wantedTenant(creation, options);
    const body = upload(call.request, world.clock);
    try {
      const before = await earlierRestore(creation, object);
      if (before) return entryAnswer(call, want, before);
      // Reject an invalid creation before reading the file.
      const rehearsal = await rehearsed(creation, object, options);
      const { about, entries } = await readTransfer(body).catch((error: unknown) => {
        throw refusedFile(error);
      });
      const restoring = { world, creation, object, options, about: decodeAbout(about) };
      const batches = restoredEntries(entries, { ...place(restoring), about: restoring.about, world });
      if (options.isDryRun) {
        for await (const _ of batches);
        return entryAnswer(call, want, rehearsal, 201);
      }
      const entry = await restored(restoring, batches);
      return entryAnswer(call, want, entry, 201);
    } finally {
      await body.return();
    }
  };

interface Restoring {
  readonly world: TenantWorld;
  readonly creation: Call;
  readonly object: KubeObject;
  readonly options: WriteOptions;
  readonly about: BackupAbout;
}

const place = ({ world, object }: Pick<Restoring, 'world' | 'object'>): { path: string; prefix: string } => {
  const path = object.metadata.name!;
  return { path, prefix: tenantPrefix(world.storePrefix, path) };
};

async function restored(restoring: Restoring, batches: AsyncIterable<Write[]>): Promise<Entry> {
  const { world, creation, object, options, about } = restoring;
  const importing = await Import.begin({ store: world.store, ...place(restoring) });
  let entry: Entry;
  try {
    for await (const writes of batches) await importing.write(writes);
    entry = await createObject({ ...creation, allocation: lastWrites(restoring, importing) }, object, options);
  } catch (error) {
    await importing.abandon();
    throw error;
  }
  return about.identity.isMaterialised ? markMaterialised(creation, entry) : entry;
}

/** The last transaction creates the tenant together with its object; until then the imported entries do not belong to a tenant. */
function lastWrites(restoring: Restoring, importing: Import): Allocation {
  const { path, prefix } = place(restoring);
  const hosts = new HostClaims(restoring.world);
  let isFirst = true;
  return {
    async create(_context, object): Promise<readonly Write[]> {
      const claims = await hosts.change({ path, hosts: hostsOf(object) });
      if (!isFirst)
        throw conflict(tenantsName, path, 'another request is creating or restoring a tenant under this path');
      isFirst = false;
      const value = encodeIdentity(restoring.about.identity);
      return [{ type: 'put', key: identityKey(prefix), value, expected: absent }, importing.end(), ...claims];
    },
    update: () => Promise.resolve([]),
    remove: () => Promise.resolve([]),
  };
}

/** Presents the call as a create of the object itself. */
const asCreation = (call: Call): Call => ({ ...call, info: { ...call.info, subresource: '' } });

/** Returns the Tenant as if the client had sent it, with managedFields. Throws 400. */
async function wantedTenant(creation: Call, options: WriteOptions): Promise<KubeObject> {
  const { info, query, resource } = creation;
  const spec = query.has('spec') ? sentObject(query.text('spec'), 'the parameter spec') : {};
  for (const name of ['deletionPolicy', 'suspension']) if (query.has(name)) spec[name] = query.text(name);
  const { kind, apiVersion } = resource;
  const restoreId = givenRestoreId(query);
  const annotations = restoreId === undefined ? undefined : { [restoreIdAnnotation]: restoreId };
  const sent = Buffer.from(JSON.stringify({ kind, apiVersion, metadata: { name: info.name, annotations }, spec }));
  const object = await decodeObject(sent, {
    resource,
    controlPlane: creation.plane.name,
    format: 'json',
    slicer: new Slicer(creation.plane.clock),
    fieldValidation: options.fieldValidation,
    warn: (text) => warn(creation, text),
  });
  await ownFields(creation, undefined, object, options);
  return object;
}

/** Returns the tenant if an earlier request with the same ID restored it. */
async function earlierRestore({ plane, resource }: Call, wanted: KubeObject): Promise<Entry | undefined> {
  const { name, annotations } = wanted.metadata;
  const id = annotations?.[restoreIdAnnotation];
  const { entry } = id === undefined ? {} : await plane.store.get(objectKey(plane, resource, '', name!));
  return entry && resource.stored.object(entry).metadata.annotations?.[restoreIdAnnotation] === id ? entry : undefined;
}

/** Dry-runs the creation and returns the resulting entry. Throws the errors of a creation: the tenant exists or is forbidden. */
async function rehearsed(creation: Call, object: KubeObject, options: WriteOptions): Promise<Entry> {
  // A separate request, because its timeout expires long before the actual creation starts.
  const request = new RoutedRequest(creation.request, creation.request.target);
  return createObject({ ...creation, request }, structuredClone(object), { ...options, isDryRun: true });
}

const refusedFile = (error: unknown): Error => refused((error as Error).message, error);
