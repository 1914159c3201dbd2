/**
 * `POST …/tenants/demo/backup`: the tenant as a file, as of one revision, while it serves. Values are in it as clients see
 * them, secrets too: it must be kept like them. `?includeKeys=true` puts the tenant's CAs and signing keys into it, for those
 * who may `create` `tenants/keys` as well.
 */

import { notFound } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { exportRange } from '@hangar/store';
import type { Answer } from '../../http/message.ts';
import { versionInfo } from '../../documents/version.ts';
import type { Call } from '../../verbs/call.ts';
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

/** Its history cannot be shorter than the time for one page, again and again. */
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
        // Nothing was sent yet: a later revision is as good.
        if (!hasCode(error, 'Compacted') || attempt === attemptsMax) throw error;
      }
    }
  };

/** Resolves when the first entries are read, so that what fails at once is answered. */
async function begun({ store, clock, onError }: TenantWorld, asked: AskedTenant, hasKeys: boolean): Promise<Answer> {
  const { path, prefix } = asked;
  const { entry, revision } = await store.get(identityKey(prefix));
  if (!entry) throw notFound(tenantsName, path);
  const identity = decodeIdentity(entry.value);
  const about: BackupAbout = { path, identity, revision, version: String(versionInfo['gitVersion']), hasKeys };
  const chunks = exportRange(store, {
    prefix,
    atRevision: revision,
    about: encodeAbout(about),
    omits: (key, one) => !isInBackup(key, one, about),
  });
  const first: Uint8Array[] = [];
  // Behind the head and what is said of the whole there is an entry, or the end.
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
