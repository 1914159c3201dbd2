/** Into the control plane, once for everything that a pass does there: to open a tenant costs more than everything else. */

import type { Client } from '@hangar/client';

export class Entrance implements AsyncDisposable {
  readonly #enter: () => Promise<Client>;
  #client: Promise<Client> | undefined;

  constructor(enter: () => Promise<Client>) {
    this.#enter = enter;
  }

  client(): Promise<Client> {
    return (this.#client ??= this.#enter());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }
}
