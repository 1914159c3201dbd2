/** Header of a backup, stored before its first entry. */

import { isObject } from '@hangar/api';
import type { TenantIdentity } from '../identity.ts';
import { isTenantPath } from '../layout.ts';
import { refused } from './refused.ts';

export interface BackupAbout {
  /** Path of the tenant. Its credentials are valid only there. */
  readonly path: string;
  readonly identity: TenantIdentity;
  /** Revision of the source store that the backup shows. */
  readonly revision: number;
  /** Version of the server that made the backup. */
  readonly version: string;
  /** The backup contains the tenant's CAs and signing keys. */
  readonly hasKeys: boolean;
}

const kind = 'TenantBackup';
/** Version of the format of the entries. */
const form = 1;

export const encodeAbout = ({ path, identity, revision, version, hasKeys }: BackupAbout): Buffer =>
  Buffer.from(JSON.stringify({ kind, form, path, identity: ownIdentity(identity), revision, version, hasKeys }));

const ownIdentity = ({ seed, createdAt, isMaterialised }: TenantIdentity): TenantIdentity => ({
  seed,
  createdAt,
  ...(isMaterialised === true ? { isMaterialised } : {}),
});

const uidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Throws 400. */
export function decodeAbout(bytes: Uint8Array | undefined): BackupAbout {
  const about = bytes && parsed(bytes);
  if (!isObject(about) || about['kind'] !== kind) throw refused('it is not a backup of a tenant');
  if (about['form'] !== form)
    throw refused(`it has format ${String(about['form'])}, but this server supports format ${form}`);
  const { path, identity, revision, version, hasKeys } = about;
  if (typeof path !== 'string' || !isTenantPath(path)) throw refused('its header has no valid tenant name');
  if (!isObject(identity)) throw refused('its header has no tenant identity');
  const { seed, createdAt, isMaterialised } = identity;
  if (typeof seed !== 'string' || !uidPattern.test(seed)) throw refused('its header has no valid tenant seed');
  if (typeof createdAt !== 'string' || !timePattern.test(createdAt) || Number.isNaN(Date.parse(createdAt))) {
    throw refused('its header has no valid creation time of the tenant');
  }
  return {
    path,
    identity: ownIdentity({ seed, createdAt, isMaterialised: isMaterialised === true }),
    revision: Number(revision),
    version: String(version),
    hasKeys: hasKeys === true,
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
