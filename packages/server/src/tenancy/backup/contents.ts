/**
 * Contents of a backup, by the keys below the tenant's prefix:
 *
 *     configmaps/default/a           objects of the tenant
 *     .hidden/namespaces/kube-public deletions of base objects
 *     .hangar/keys                   CAs and signing keys, if requested
 *
 * Excluded are the base, which every server has itself; the server's internal data about the tenant; and entries with a lease, such as
 * events: without the lease they would never expire.
 */

import { isObject } from '@hangar/api';
import { compareKeys, hiddenName } from '@hangar/store';
import type { Entry, TransferEntry } from '@hangar/store';
import { decodeKeys } from '../keys/encoding.ts';
import type { BackupAbout } from './about.ts';
import { refused } from './refused.ts';

const ownName = '.hangar/';
export const keysName = `${ownName}keys`;

/** Reports whether the key holds internal data of the server about the tenant. */
export const isInternalName = (key: string): boolean => key.startsWith(ownName);

export function isInBackup(key: string, { lease }: Entry, { hasKeys, identity }: BackupAbout): boolean {
  if (isInternalName(key)) return hasKeys && key === keysName;
  // A materialised tenant has no base, so its tombstones have no effect.
  if (key.startsWith(hiddenName)) return !identity.isMaterialised;
  return lease === undefined;
}

/** A control plane has a few hundred base objects. */
const hiddenMax = 10_000;

/** Validates the entries of a backup from an untrusted source, in order. Nothing else may enter the range of a tenant. */
export class ContentsCheck {
  readonly #about: BackupAbout;
  readonly #hidden = new Set<string>();
  #last = '';

  constructor(about: BackupAbout) {
    this.#about = about;
  }

  /** Throws 400. */
  check({ key, value }: TransferEntry): void {
    if (this.#last !== '' && compareKeys(this.#last, key) >= 0) {
      throw refused(`the key ${shown(key)} is a duplicate or out of order`);
    }
    this.#last = key;
    if (key === keysName) this.#checkKeys(value);
    else if (key.startsWith(hiddenName)) this.#checkHidden(key.slice(hiddenName.length), value);
    else {
      checkName(key);
      if (this.#hidden.has(key)) throw refused(`the key ${shown(key)} is both an object and a deletion`);
      checkObject(key, value);
    }
  }

  #checkKeys(value: Uint8Array): void {
    if (!this.#about.hasKeys) throw refused('it contains keys of the tenant, but its header does not declare them');
    try {
      decodeKeys(value);
    } catch (error) {
      throw refused('the keys of the tenant are invalid', error);
    }
  }

  #checkHidden(key: string, value: Uint8Array): void {
    checkName(key);
    if (value.length > 0 || this.#about.identity.isMaterialised)
      throw refused(`the deletion of ${shown(key)} is not allowed`);
    if (this.#hidden.size >= hiddenMax) throw refused(`it deletes more than ${hiddenMax} objects of the base`);
    this.#hidden.add(key);
  }
}

/** `<resource>/…/<name>`: at least two segments, without relative or internal ones. */
function checkName(key: string): void {
  const segments = key.split('/');
  const isPlain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  if (!isPlain || segments.length < 2 || key.startsWith('.'))
    throw refused(`${shown(key)} is not the key of an object`);
}

function checkObject(key: string, value: Uint8Array): void {
  const object = parsed(value);
  if (!isObject(object) || !isObject(object['metadata']) || typeof object['kind'] !== 'string') {
    throw refused(`the value of ${shown(key)} is not an object`);
  }
}

function parsed(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
  } catch {
    return undefined;
  }
}

/** The key is untrusted and may have any length. */
const shown = (key: string): string => JSON.stringify(key.slice(0, 200));
