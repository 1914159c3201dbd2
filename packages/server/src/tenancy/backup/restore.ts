/**
 * `POST …/tenants/demo/restore` with a backup as the body: makes the tenant `demo` from it, as a whole or not at all. UIDs,
 * times and owners of objects are as they were; resourceVersions are new, as are the tenant's keys, unless they are in the
 * backup and the path is the same. `?spec=` is the new tenant's, as JSON; `?deletionPolicy=` and `?suspension=` are parts of
 * it. It makes a tenant: whoever restores one must have the right to `create` `tenants`, too.
 */

import { conflict } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import { absent, readTransfer } from '@hangar/store';
import type { Entry, Write } from '@hangar/store';
import type { Allocation } from '../../allocation/allocation.ts';
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
import { restoredEntries } from './restored-entries.ts';
import { upload } from './upload.ts';

export const restoreOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const options = writeOptions(call.query, 'CreateOptions');
    await insistOnCreate(call, '');
    const creation = asCreation(call);
    const object = await wantedTenant(creation, options);
    const body = upload(call.request, world.clock);
    try {
      // What would be refused in the end is refused before the file is read.
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

/** The tenant is there with its object: until then what was imported is nobody's. */
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

/** As if the object itself had been posted. */
const asCreation = (call: Call): Call => ({ ...call, info: { ...call.info, subresource: '' } });

/** As if it had been sent, with its managedFields. Throws 400. */
async function wantedTenant(creation: Call, options: WriteOptions): Promise<KubeObject> {
  const { info, query, resource } = creation;
  const spec = query.has('spec') ? sentObject(query.text('spec'), 'the parameter spec') : {};
  for (const name of ['deletionPolicy', 'suspension']) if (query.has(name)) spec[name] = query.text(name);
  const { kind, apiVersion } = resource;
  const sent = Buffer.from(JSON.stringify({ kind, apiVersion, metadata: { name: info.name }, spec }));
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

/** Answers the tenant as it would be. Throws what a creation would: that it is there, or may not be. */
async function rehearsed(creation: Call, object: KubeObject, options: WriteOptions): Promise<Entry> {
  // Another request, whose time is over long before that of the creation begins.
  const request = new RoutedRequest(creation.request, creation.request.target);
  return createObject({ ...creation, request }, structuredClone(object), { ...options, isDryRun: true });
}

const refusedFile = (error: unknown): Error => refused((error as Error).message, error);
