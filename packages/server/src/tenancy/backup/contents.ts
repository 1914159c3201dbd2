/**
 * What is in a backup, by the keys below the tenant's prefix:
 *
 *     configmaps/default/a           what the tenant wrote
 *     .hidden/namespaces/kube-public what it deleted of its base
 *     .hangar/keys                   its CAs and signing keys, if they were asked for
 *
 * Not in it: the base, of which every server has its own; what the server counts and keeps of the tenant; and what expires
 * by itself, such as events: without its lease it would never go.
 */

import { isObject } from '@hangar/api';
import { compareKeys, hiddenName } from '@hangar/store';
import type { Entry, TransferEntry } from '@hangar/store';
import { decodeKeys } from '../keys/encoding.ts';
import type { BackupAbout } from './about.ts';
import { refused } from './refused.ts';

const ownName = '.hangar/';
export const keysName = `${ownName}keys`;

export function isInBackup(key: string, { lease }: Entry, { hasKeys, identity }: BackupAbout): boolean {
  if (key.startsWith(ownName)) return hasKeys && key === keysName;
  // Where there is no base any more, nothing of it is hidden.
  if (key.startsWith(hiddenName)) return !identity.isMaterialised;
  return lease === undefined;
}

/** Of one control plane there are a few hundred base objects. */
const hiddenMax = 10_000;

/** Looks at the entries of a backup in their order, whoever made it: nothing else may get into a tenant's range. */
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

/** `<resource>/…/<name>`: at least two segments, none of which leads elsewhere or is the server's own. */
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

/** It may be anything, and of any length. */
const shown = (key: string): string => JSON.stringify(key.slice(0, 200));
