/**
 * `POST …/tenants/demo/restore?replace=true` with a backup as the body: replaces all data of the tenant `demo`, completely or not at all;
 * see `replacement.ts`. The backup is staged while the tenant serves. Then requests get 503 with Retry-After until the data is replaced,
 * and watches end with 410.
 *
 * The tenant keeps its object, its keys and its identity, from which UIDs of base objects are derived. If the backup contains keys of the
 * same path, keys and identity are those of the backup. `?restoreId=` identifies the restore: a repeated request with the ID of the last
 * restore does nothing. Requires permission to `create` `tenants/replace`.
 */

import { badRequest, conflict } from '@hangar/api';
import { readTransfer } from '@hangar/store';
import type { TransferEntry } from '@hangar/store';
import type { Answer } from '../../http/message.ts';
import { unconditionalAttemptsMax } from '../../limits.ts';
import { entryAnswer, wantedBy } from '../../objects/answers.ts';
import { writeOptions } from '../../request/options.ts';
import { groupResource } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { insistOnLocal } from '../hold/refusals.ts';
import { decodeIdentity, withoutHistory } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { decodeKeys } from '../keys/encoding.ts';
import { tenantKeys } from '../keys/keys.ts';
import type { TenantKeys } from '../keys/keys.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import { insistOnCreate } from '../kind/insist.ts';
import { stagedPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantOf } from '../tenant.ts';
import { decodeAbout } from './about.ts';
import type { BackupAbout } from './about.ts';
import { keysName } from './contents.ts';
import { refused } from './refused.ts';
import { Replacement, restoring } from './replacement.ts';
import { givenRestoreId } from './restore-id.ts';
import { restoredEntries } from './restored-entries.ts';
import { upload } from './upload.ts';

export const replaceOperation =
  (world: TenantWorld) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const { isDryRun } = writeOptions(call.query, 'CreateOptions');
    await insistOnCreate(call, 'replace');
    insistOnNoSpec(call);
    const restoreId = givenRestoreId(call.query);
    const body = upload(call.request, world.clock);
    try {
      const asked = await askedTenant(world, call);
      const identity = decodeIdentity(asked.identity.value);
      if (identity.next) {
        world.replacements().noticed(asked.path);
        throw restoring(asked.path);
      }
      insistOnLocal(asked.path, identity);
      if (restoreId !== undefined && identity.restoreId === restoreId) return entryAnswer(call, want, asked.entry);
      const { about, entries } = await readTransfer(body).catch((error: unknown) => {
        throw refused((error as Error).message, error);
      });
      const backup = decodeAbout(about);
      insistOnSameLayout(backup, identity);
      const next = nextIdentity({ backup, identity, path: asked.path, restoreId });
      const currentKeys = await keysOf(world, asked);
      const staged = stagedPrefix(world.storePrefix, asked.path);
      const options = { path: asked.path, prefix: staged, about: { ...backup, identity: next }, currentKeys, world };
      const batches = restoredEntries(insistOnAuthority(entries, asked, currentKeys), options);
      if (isDryRun) {
        for await (const _ of batches);
        return entryAnswer(call, want, asked.entry);
      }
      const replacement = await Replacement.begin(world, asked.path);
      try {
        for await (const writes of batches) await replacement.stage(writes);
        await startSwitch(world, call, { replacement, asked, next });
      } catch (error) {
        await replacement.abandon();
        throw error;
      }
      await world.replacements().complete(replacement);
      return entryAnswer(call, want, (await askedTenant(world, call)).entry);
    } finally {
      await body.return();
    }
  };

function insistOnNoSpec({ query }: Call): void {
  for (const name of ['spec', 'deletionPolicy', 'suspension']) {
    if (query.has(name)) throw badRequest(`the parameter ${name} cannot be used with replace=true`);
  }
}

/** A backup with the base in it does not fit a tenant with the shared base, and the other way round. */
function insistOnSameLayout(backup: BackupAbout, { isMaterialised = false }: TenantIdentity): void {
  const isBackupMaterialised = backup.identity.isMaterialised ?? false;
  if (isBackupMaterialised === isMaterialised) return;
  const [made, is] = isMaterialised ? ['before', 'is'] : ['after', 'is not'];
  throw refused(`it was made ${made} the tenant was materialised, and the tenant ${is} materialised`);
}

interface NextIdentityOptions {
  readonly backup: BackupAbout;
  readonly identity: TenantIdentity;
  readonly path: string;
  readonly restoreId: string | undefined;
}

function nextIdentity({ backup, identity, path, restoreId }: NextIdentityOptions): TenantIdentity {
  const { restoreId: _, ...current } = withoutHistory(identity);
  const kept = backup.hasKeys && backup.path === path ? backup.identity : current;
  return restoreId === undefined ? kept : { ...kept, restoreId };
}

const keysOf = ({ store, clock, random }: TenantWorld, { path, prefix, identity }: AskedTenant): Promise<TenantKeys> =>
  tenantKeys({ store, prefix, path, identityRevision: identity.modRevision, clock, random });

/** Nodes know the CA of the tenant: it must not change while nodes can join. */
async function* insistOnAuthority(
  entries: AsyncIterable<TransferEntry>,
  { entry: tenant, path }: AskedTenant,
  { authority }: TenantKeys,
): AsyncGenerator<TransferEntry, void, void> {
  const hasNodes = tenantOf(tenant).port !== undefined;
  for await (const entry of entries) {
    if (hasNodes && entry.key === keysName && authorityOf(entry) !== authority.certificate) {
      throw refused(
        `it contains another CA than tenant ${JSON.stringify(path)} has, and nodes of the tenant trust the CA of the tenant: ` +
          'set spec.nodes.enabled to false first, or use a backup without keys',
      );
    }
    yield entry;
  }
}

function authorityOf({ value }: TransferEntry): string {
  try {
    return decodeKeys(value).authority.certificate;
  } catch (error) {
    throw refused('the keys of the tenant are invalid', error);
  }
}

interface Switching {
  readonly replacement: Replacement;
  readonly asked: AskedTenant;
  readonly next: TenantIdentity;
}

/** Throws 409 if the tenant was deleted, recreated or materialised since the request began. */
async function startSwitch(world: TenantWorld, call: Call, { replacement, asked, next }: Switching): Promise<void> {
  let current = asked;
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    if (!isSameTenant(current, asked)) break;
    insistOnLocal(asked.path, decodeIdentity(current.identity.value));
    const { key, modRevision } = current.entry;
    const exists = { type: 'check', key, expected: modRevision } as const;
    if (await replacement.startSwitch(current.identity, next, [exists])) return;
    current = await askedTenant(world, call);
  }
  throw conflict(groupResource(call), asked.path, 'the tenant changed while the backup was read');
}

function isSameTenant(one: AskedTenant, other: AskedTenant): boolean {
  const [before, after] = [decodeIdentity(one.identity.value), decodeIdentity(other.identity.value)];
  return (
    tenantOf(one.entry).uid === tenantOf(other.entry).uid &&
    before.seed === after.seed &&
    before.isMaterialised === after.isMaterialised
  );
}
