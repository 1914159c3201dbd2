/** TCP that a test can cut: connections break, and new ones are refused until it is healed. */

import type { Duplex } from 'node:stream';
import { systemTransport } from '@hangar/core';
import type { Address, Transport } from '@hangar/core';

export class CuttableTransport implements Transport {
  readonly #open = new Set<Duplex>();
  #isCut = false;

  readonly listen = systemTransport.listen;

  async connect(address: Address, signal?: AbortSignal): Promise<Duplex> {
    this.#refuseWhenCut();
    const connection = await systemTransport.connect(address, signal);
    if (this.#isCut) connection.destroy();
    this.#refuseWhenCut();
    this.#open.add(connection);
    connection.once('close', () => this.#open.delete(connection));
    return connection;
  }

  cut(): void {
    this.#isCut = true;
    for (const connection of this.#open) connection.destroy(Object.assign(new Error('cut'), { code: 'ECONNRESET' }));
  }

  heal(): void {
    this.#isCut = false;
  }

  #refuseWhenCut(): void {
    if (this.#isCut) throw Object.assign(new Error('cut'), { code: 'ECONNREFUSED' });
  }
}
