/** Into the tenant, once for all that a pass does there: to open a tenant costs more than everything else. */

import type { Client } from '@hangar/client';
import type { TenantHost } from '../host/index.ts';

export class Entrance implements AsyncDisposable {
  readonly #host: TenantHost;
  readonly #path: string;
  #client: Promise<Client> | undefined;

  constructor(host: TenantHost, path: string) {
    this.#host = host;
    this.#path = path;
  }

  client(): Promise<Client> {
    return (this.#client ??= this.#host.enter(this.#path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }
}
