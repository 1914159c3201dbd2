/**
 * `POST …/tenants/demo/backup`: returns the tenant as a file, as of one revision, while the tenant serves. The file contains values as
 * clients see them, including Secrets, so protect it like them. `?includeKeys=true` adds the tenant's CAs and signing keys; this also
 * requires permission to `create` `tenants/keys`.
 */

import { notFound } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { exportRange } from '@hangar/store';
import type { Answer } from '../../http/message.ts';
import { versionInfo } from '../../documents/version.ts';
import type { Call } from '../../verbs/call.ts';
import { insistOnOwnData } from '../hold/refusals.ts';
import { decodeIdentity } from '../identity.ts';
import { identityKey } from '../layout.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import { insistOnCreate } from '../kind/insist.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantsName } from '../tenant.ts';
import { encodeAbout } from './about.ts';
import type { BackupAbout } from './about.ts';
import { isInBackup } from './contents.ts';
import { download } from './download.ts';
import { restoring } from './replacement.ts';

/** Gives up if the revision is compacted each time before the first page is read. */
const attemptsMax = 5;
const bodyBytesMax = 64 * 1024;

export const backupOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    await call.request.body(bodyBytesMax);
    const hasKeys = call.query.flag('includeKeys') ?? false;
    if (hasKeys) await insistOnCreate(call, 'keys');
    for (let attempt = 1; ; attempt++) {
      const asked = await askedTenant(world, call);
      try {
        return await begun(world, asked, hasKeys);
      } catch (error) {
        // Nothing was sent yet: start again at a later revision.
        if (!hasCode(error, 'Compacted') || attempt === attemptsMax) throw error;
      }
    }
  };

/** Resolves when the first entries are read, so that early errors become an error response. */
async function begun({ store, clock, onError }: TenantWorld, asked: AskedTenant, hasKeys: boolean): Promise<Answer> {
  const { path, prefix } = asked;
  const { entry, revision } = await store.get(identityKey(prefix));
  if (!entry) throw notFound(tenantsName, path);
  const identity = decodeIdentity(entry.value);
  if (identity.next) throw restoring(path);
  insistOnOwnData(path, identity);
  const about: BackupAbout = { path, identity, revision, version: String(versionInfo['gitVersion']), hasKeys };
  const chunks = exportRange(store, {
    prefix,
    atRevision: revision,
    about: encodeAbout(about),
    omits: (key, one) => !isInBackup(key, one, about),
  });
  const first: Uint8Array[] = [];
  // The third chunk, after the file head and the header, is an entry or the end.
  for (let at = 0; at < 3; at++) first.push((await chunks.next()).value!);
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${path}-${revision}.hangar-backup"`,
      'cache-control': 'no-store',
    },
    body: download(continued(first, chunks), { clock, onError }),
  };
}

async function* continued(
  first: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  yield* first;
  yield* rest;
}
