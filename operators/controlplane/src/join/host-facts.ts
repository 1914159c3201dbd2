/** Caches facts that are the same for all tenants of a host: its version. */

import type { Client } from '@hangar/client';

export class HostFacts {
  readonly #client: Client;
  #version: Promise<string> | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** `v1.35.0`. */
  version(): Promise<string> {
    this.#version ??= this.#ask().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  async #ask(): Promise<string> {
    const answer = await this.#client.raw({
      method: 'GET',
      target: '/version',
      headers: { accept: 'application/json' },
    });
    const { gitVersion = '' } = JSON.parse((await answer.body()).toString()) as { gitVersion?: string };
    // The suffix behind the numbers identifies the build; nodes compare the numbers.
    return /^v\d+\.\d+\.\d+/.exec(gitVersion)?.[0] ?? gitVersion;
  }
}
