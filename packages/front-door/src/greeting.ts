/** Reads the start of a connection: the PROXY protocol header of a trusted load balancer, if one is expected, and the ClientHello. */

import { ClientHelloReader } from './client-hello.ts';
import type { ClientHello } from './client-hello.ts';
import { proxyHeaderBytesMax, readProxyHeader } from './proxy-protocol.ts';
import type { ProxiedConnection } from './proxy-protocol.ts';

export type GreetingResult = ClientHello | { readonly kind: 'invalid-proxy-header' };

export class Greeting {
  readonly #hello = new ClientHelloReader();
  /** Bytes of a header that is not complete. Undefined: it was read, or none is expected. */
  #header: Buffer | undefined;
  /** From the header. */
  proxied: ProxiedConnection | undefined;

  constructor(expectsProxyHeader: boolean) {
    this.#header = expectsProxyHeader ? Buffer.alloc(0) : undefined;
  }

  /** The bytes for the backend, without the header. */
  get bytes(): readonly Uint8Array[] {
    return [this.#hello.bytes, this.#hello.excess];
  }

  push(chunk: Buffer): GreetingResult {
    if (!this.#header) return this.#hello.push(chunk);
    const bytes = Buffer.concat([this.#header, chunk]);
    const header = readProxyHeader(bytes);
    switch (header.kind) {
      case 'incomplete':
        this.#header = bytes;
        return bytes.length > proxyHeaderBytesMax ? { kind: 'invalid-proxy-header' } : header;
      case 'invalid':
        return { kind: 'invalid-proxy-header' };
      case 'header':
        this.#header = undefined;
        this.proxied = header.connection;
        return this.#hello.push(bytes.subarray(header.bytes));
    }
  }
}
