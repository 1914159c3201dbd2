/** The CAs of the front proxies of control planes, as each publishes them. Results are cached for seconds. */

import { isObject } from '@hangar/api';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { pathClient } from '@hangar/runtime/clusters';
import { frontProxyCaOf } from '@hangar/server/library';
import type { ProxiedPlane, ProxiedPlanes } from '@hangar/server/library';

const key = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const keptMs = 5_000;
const keptMax = 1_000;

export class FrontProxies implements ProxiedPlanes<ProxiedPlane> {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly untilMs: number; readonly plane: Promise<ProxiedPlane | undefined> }>();

  /** `client` is a client of the management plane. */
  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** A failed read is not kept. */
  plane(name: string): Promise<ProxiedPlane | undefined> {
    const now = this.#clock.monotonicMs();
    const known = this.#kept.get(name);
    if (known && known.untilMs > now) return known.plane;
    const plane = this.#read(name);
    this.#kept.delete(name);
    this.#kept.set(name, { untilMs: now + keptMs, plane });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value!);
    plane.catch(() => this.#kept.delete(name));
    return plane;
  }

  async #read(name: string): Promise<ProxiedPlane | undefined> {
    try {
      const map = await find(pathClient(this.#client, `/clusters/${name}/control-plane`), ConfigMap, key);
      return { name, frontProxyCa: isObject(map?.data) ? frontProxyCaOf(map.data) : '' };
    } catch (error) {
      if (hasCode(error, 'NotFound')) return undefined;
      throw error;
    }
  }
}
