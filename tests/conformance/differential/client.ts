/** Requests to one server under test, on kept-alive connections, with the credentials of its kubeconfig. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { readKubeconfig } from '../servers/index.ts';
import type { ControlPlane } from '../servers/index.ts';

export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface Received {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly text: string;
}

export interface Client extends Disposable {
  readonly name: string;
  send(sent: Sent): Promise<Received>;
}

/** The connection was closed instead: with kube-apiserver, after a panic of a handler. */
const noAnswer: Received = { status: 0, contentType: '', warnings: [], text: '' };

const answerTimeoutMs = 30_000;
const connectionsMax = 8;

export async function clientOf(server: ControlPlane): Promise<Client> {
  const { clusters, users } = await readKubeconfig(server.kubeconfig);
  const cluster = clusters[0]!.cluster as unknown as Record<string, string>;
  const user = users[0]!.user as Record<string, string | undefined>;
  const decoded = (text: string | undefined): Buffer | undefined =>
    text === undefined ? undefined : Buffer.from(text, 'base64');
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connectionsMax,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  });
  const authorization = user['token'] === undefined ? {} : { authorization: `Bearer ${user['token']}` };
  const sendOnce = async ({ method, target, headers, body }: Sent): Promise<Received> => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = request(server.url + target, {
      method,
      agent,
      headers: { ...authorization, ...headers, ...length },
      timeout: answerTimeoutMs,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    // The first failure rejects; later errors of the connection are ignored.
    outgoing.on('error', () => {});
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return received(answer);
  };
  return {
    name: server.name,
    async send(sent) {
      // A kept connection may close just when it is used again; a second close is a failure of the server.
      return await sendOnce(sent).catch(() => sendOnce(sent).catch(() => noAnswer));
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function received(answer: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return {
    status: answer.statusCode ?? 0,
    contentType: answer.headers['content-type'] ?? '',
    warnings: warningsOf(answer),
    text: Buffer.concat(chunks).toString(),
  };
}

/** Separate values: Node would join them. */
function warningsOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && name.toLowerCase() === 'warning' ? [Buffer.from(rawHeaders[at + 1]!, 'latin1').toString()] : [],
  );
}
