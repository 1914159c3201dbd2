/** Test helpers that read the content of a tenant, and move the tenant away and back. */

import assert from 'node:assert/strict';
import { decodeFrames, encodeRequest } from '@hangar/store';
import type { ReplicaFrame, Revision } from '@hangar/store';
import { isStreaming } from '../../http/message.ts';
import { tenants } from '../../testing/tenancy-server.ts';
import type { TenancyServer } from '../../testing/tenancy-server.ts';
import { TestSink } from '../../testing/test-server.ts';

/** An API server that does not run. */
export const elsewhere = { server: 'https://127.0.0.1:1', ca: '-----BEGIN CERTIFICATE-----' };

/** Reads frames of a stream until the test has what it needs. */
export class FrameReader implements AsyncDisposable {
  readonly #sink = new TestSink();
  readonly #frames: AsyncGenerator<ReplicaFrame, void, void>;

  constructor(body: { start(sink: TestSink): void }) {
    body.start(this.#sink);
    this.#frames = decodeFrames(this.#chunks(), { complete: false });
  }

  static async open(server: TenancyServer, tenant: string, query = ''): Promise<FrameReader> {
    const { status, body } = await server.answer('GET', `${tenants}/${tenant}/replica${query}`);
    assert.equal(status, 200);
    assert.ok(isStreaming(body));
    return new FrameReader(body);
  }

  async until(isLast: (frame: ReplicaFrame) => boolean): Promise<ReplicaFrame[]> {
    const frames: ReplicaFrame[] = [];
    for (;;) {
      const { done, value } = await this.#frames.next();
      assert.ok(!done, 'the stream ended');
      frames.push(value);
      if (isLast(value)) return frames;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; ; at++) {
      while (this.#sink.chunks.length <= at) {
        if (this.#sink.isEnded) return;
        await this.#sink.changed();
      }
      yield this.#sink.chunks[at]!;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sink.end();
    await this.#frames.return();
  }
}

export interface TenantContent {
  readonly frames: readonly ReplicaFrame[];
  readonly revision: Revision;
}

/** Returns the content of the tenant. */
export async function contentOf(server: TenancyServer, tenant: string): Promise<TenantContent> {
  await using reader = await FrameReader.open(server, tenant);
  const frames = await reader.until(({ type }) => type === 'snapshot');
  return { frames, revision: (frames.at(-1) as { revision: Revision }).revision };
}

/** Holds the tenant; then another API server serves it. */
export async function moveAway(server: TenancyServer, tenant: string): Promise<void> {
  await server.expect(201, 'POST', `${tenants}/${tenant}/hold?id=away`);
  await server.expect(201, 'POST', `${tenants}/${tenant}/remote?id=away`, { body: { spec: elsewhere } });
}

/** The tenant receives the content and serves it. */
export async function moveBack(server: TenancyServer, tenant: string, content: TenantContent): Promise<void> {
  const act = (query: string, body?: Uint8Array): Promise<unknown> =>
    server.expect(
      201,
      'POST',
      `${tenants}/${tenant}/${query}`,
      body ? { body, contentType: 'application/octet-stream' } : {},
    );
  await act('replica?id=back&action=start');
  await act('replica?id=back&action=receive', encodeRequest(content.frames));
  await act('hold?id=back');
  await act(`replica?id=back&action=serve&revision=${content.revision}`);
}
