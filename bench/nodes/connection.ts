/** Requests to an API server whose answers are streams, with as little work in this process as possible. */

import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketClient, webSocketHeaders } from '../../packages/server/src/nodes/testing/websocket-client.ts';

export interface Server {
  readonly url: string;
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
}

const limitMs = 120_000;

/** Returns the answer of a GET request. Rejects if its status is not 200. */
export async function get({ url, tls }: Server, path: string): Promise<IncomingMessage> {
  const sent = request(new URL(path, url), { ...tls, agent: false, signal: AbortSignal.timeout(limitMs) });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${await textOf(answer)}`);
  return answer;
}

/** Opens an exec session as a WebSocket. Returns its connection. */
export async function exec(server: Server, pod: string, command: readonly string[], stdin = false): Promise<Duplex> {
  const query = new URLSearchParams({ stdout: 'true', ...(stdin && { stdin: 'true' }) });
  for (const word of command) query.append('command', word);
  const path = `/api/v1/namespaces/default/pods/${pod}/exec?${query}`;
  const headers = { connection: 'Upgrade', ...webSocketHeaders('v5.channel.k8s.io') };
  const sent = request(new URL(path, server.url), { ...server.tls, agent: false, headers });
  sent.end();
  const refused = once(sent, 'response').then(async ([answer]: IncomingMessage[]) => {
    throw new Error(`exec ${command.join(' ')}: ${answer!.statusCode} ${await textOf(answer!)}`);
  });
  const upgraded = once(sent, 'upgrade', { signal: AbortSignal.timeout(limitMs) });
  const [, socket, head] = (await Promise.race([upgraded, refused])) as [IncomingMessage, Duplex, Buffer];
  if (head.length > 0) socket.unshift(head);
  return socket;
}

/** Opens an exec session whose messages are read one by one. */
export const execSession = async (server: Server, pod: string, command: readonly string[]): Promise<WebSocketClient> =>
  new WebSocketClient(await exec(server, pod, command, true));

/** A stream closed before all its bytes arrived. */
export class TruncatedStreamError extends Error {}

/** Resolves when the stream has delivered that many bytes. Rejects with a TruncatedStreamError if it closes before. */
export function receive(stream: Duplex | IncomingMessage, bytes: number): Promise<void> {
  let received = 0;
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received >= bytes) resolve();
    });
    stream.once('error', reject);
    stream.once('close', () =>
      reject(new TruncatedStreamError(`the stream closed after ${received} of ${bytes} bytes`)),
    );
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return text;
}
