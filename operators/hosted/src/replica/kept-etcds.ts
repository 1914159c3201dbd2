/**
 * Keeps the connection to an etcd for a short time after its last use. A switch reads the state of etcd about ten times in a second while
 * requests of users wait. Otherwise each read would issue a certificate and connect.
 */

import type { Clock, Timer } from '@hangar/core';
import type { PlaneEtcd } from './plane-etcd.ts';

const keptMs = 2_000;

interface Kept {
  readonly etcd: PlaneEtcd;
  users: number;
  isClosing?: Timer | undefined;
}

export class KeptEtcds {
  readonly #clock: Clock;
  /** By the UID of the HostedControlPlane. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the etcd that is kept for the UID, or else the one that `open` returns. A failed call ends its keeping. */
  async open(uid: string, open: () => Promise<PlaneEtcd | undefined>): Promise<PlaneEtcd | undefined> {
    const known = this.#kept.get(uid);
    if (known) return this.#used(uid, known);
    const etcd = await open();
    if (!etcd || this.#kept.has(uid)) return etcd;
    const kept: Kept = { etcd, users: 0 };
    this.#kept.set(uid, kept);
    return this.#used(uid, kept);
  }

  #used(uid: string, kept: Kept): PlaneEtcd {
    const { etcd } = kept;
    kept.users++;
    kept.isClosing?.cancel();
    kept.isClosing = undefined;
    const noted = async <T>(call: Promise<T>): Promise<T> => {
      try {
        return await call;
      } catch (error) {
        // Its members may have other addresses now.
        if (this.#kept.get(uid) === kept) this.#kept.delete(uid);
        throw error;
      }
    };
    let isReleased = false;
    return {
      fence: () => noted(etcd.fence()),
      unfence: () => noted(etcd.unfence()),
      isFenced: () => noted(etcd.isFenced()),
      revision: () => noted(etcd.revision()),
      openContent: () => noted(etcd.openContent()),
      [Symbol.asyncDispose]: async () => {
        if (isReleased) return;
        isReleased = true;
        kept.users--;
        if (kept.users > 0) return;
        if (this.#kept.get(uid) !== kept) return etcd[Symbol.asyncDispose]();
        kept.isClosing = this.#clock.after(keptMs, () => {
          this.#kept.delete(uid);
          void etcd[Symbol.asyncDispose]();
        });
      },
    };
  }
}
