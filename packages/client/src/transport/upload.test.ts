import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { HttpTransport } from './contract.ts';
import { InProcessTransport } from './in-process.ts';
import { http1Server, http2Server, transportTo } from './testing/servers.ts';

/** Handles the body of a request and returns the status of the response. */
type Receiver = (body: Readable) => Promise<number>;

const protocols: Readonly<Record<string, (context: TestContext, receive: Receiver) => Promise<HttpTransport>>> = {
  'HTTP/2': async (context, receive) => {
    const { config } = await http2Server(context, (stream) => {
      stream.on('error', () => {});
      void receive(stream).then((status) => {
        if (stream.destroyed) return;
        stream.respond({ ':status': status });
        stream.end(String(status));
      });
    });
    return transportTo(context, config);
  },
  'HTTP/1.1': async (context, receive) => {
    const { config } = await http1Server(context, (request, response) => {
      request.on('error', () => {});
      void receive(request).then((status) => {
        if (!response.destroyed) response.writeHead(status).end(String(status));
      });
    });
    return transportTo(context, config);
  },
  'a call in the same process': async (context, receive) => {
    const transport = new InProcessTransport({
      handler: async ({ passing }) => {
        const status = await receive(passing!.body);
        return { status, headers: {}, body: Buffer.from(String(status)) };
      },
    });
    context.after(() => transport.close());
    return transport;
  },
};

const chunkBytes = 64 * 1024;
const post = { method: 'POST', target: '/', isLong: true } as const;

class Source implements AsyncIterable<Uint8Array> {
  readonly #chunks: number;
  readonly #failsAt: number | undefined;
  read = 0;
  readonly closed = Promise.withResolvers<void>();

  constructor(chunks: number, failsAt?: number) {
    this.#chunks = chunks;
    this.#failsAt = failsAt;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    try {
      while (this.read < this.#chunks) {
        if (this.read === this.#failsAt) throw new Error('the source failed');
        yield Buffer.alloc(chunkBytes, this.read++ & 0xff);
      }
    } finally {
      this.closed.resolve();
    }
  }
}

for (const [name, transportOf] of Object.entries(protocols)) {
  describe(`an upload over ${name}`, () => {
    test('arrives complete and in order', async (context) => {
      const hash = createHash('sha256');
      const transport = await transportOf(context, async (body) => {
        for await (const chunk of body) hash.update(chunk as Buffer);
        return 201;
      });
      const answer = await transport.request({ ...post, upload: new Source(100) });
      assert.equal(answer.status, 201);
      assert.equal((await answer.body()).toString(), '201');
      const wanted = createHash('sha256');
      for (let at = 0; at < 100; at++) wanted.update(Buffer.alloc(chunkBytes, at));
      assert.equal(hash.digest('hex'), wanted.digest('hex'));
    });

    test('is read only as fast as the server reads it', async (context) => {
      const chunksMax = 2_000;
      const source = new Source(chunksMax);
      const transport = await transportOf(context, async (body) => {
        await once(body, 'readable');
        // All buffers between both ends are full when nothing more is read.
        for (let before = -1; before !== source.read;) {
          before = source.read;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        assert.ok(source.read < chunksMax / 4, `${source.read} chunks were read ahead`);
        for await (const _ of body);
        return 200;
      });
      const answer = await transport.request({ ...post, upload: source });
      assert.equal(answer.status, 200);
      assert.equal(source.read, chunksMax);
    });

    test('whose source fails is aborted at the server and rejects with the error of the source', async (context) => {
      const received = Promise.withResolvers<string>();
      const transport = await transportOf(context, async (body) => {
        const ended = await new Promise<string>((resolve) => {
          body.on('end', () => resolve('whole'));
          body.on('aborted', () => resolve('aborted'));
          body.on('error', () => resolve('aborted'));
          body.on('close', () => resolve('aborted'));
          body.resume();
        });
        received.resolve(ended);
        return 200;
      });
      const upload = new Source(10, 5);
      await assert.rejects(
        transport.request({ ...post, upload }).then((answer) => answer.body()),
        { message: 'the source failed' },
      );
      assert.equal(await received.promise, 'aborted');
    });

    test('ends when the server answers before it has read everything', async (context) => {
      const transport = await transportOf(context, () => Promise.resolve(403));
      const source = new Source(100_000);
      const answer = await transport.request({ ...post, upload: source });
      assert.equal(answer.status, 403);
      await answer.body().catch(() => undefined);
      await transport.close();
      // A source that was never read has nothing to close.
      if (source.read > 0) await source.closed.promise;
    });
  });
}
