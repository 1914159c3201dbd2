/** A whole API server on a store in memory, asked without a socket: for tests of what requests do. */

import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Authorizer } from '../auth/authorize.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { ControlPlane } from '../control-plane.ts';
import { isStreaming } from '../http/message.ts';
import type { Headers } from '../http/message.ts';
import { openControlPlane } from '../open-control-plane.ts';
import type { PluginChoice } from '../admission/plugins.ts';
import type { Outbound } from '../outbound/index.ts';
import { ApiServer } from '../server.ts';
import { administrator, testAuthentication } from './authentication.ts';
import type { TestAuthentication } from './authentication.ts';

export interface InProcessAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface InProcessRequest {
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly accept?: string;
  /** Absent: the administrator's. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface InProcessServer extends AsyncDisposable {
  readonly plane: ControlPlane;
  readonly store: Store;
  request(method: string, target: string, options?: InProcessRequest): Promise<InProcessAnswer>;
}

export interface InProcessOptions extends TestAuthentication {
  /** Absent: all but `ServiceAccount`, as no controller makes accounts here; the real server of tests has none either. */
  readonly admission?: PluginChoice;
  readonly clock?: Clock;
  readonly auditor?: Auditor;
  readonly store?: Store;
  /** Absent: one that does not go to loopback. Closed by whoever made it. */
  readonly outbound?: Outbound;
  readonly authorizers?: readonly Authorizer[] | ((plane: ControlPlane) => readonly Authorizer[]);
}

const withoutAccounts: PluginChoice = { disabled: ['ServiceAccount'] };

export async function startInProcess(options: InProcessOptions = {}): Promise<InProcessServer> {
  const clock = options.clock ?? systemClock;
  const store = options.store ?? (await openMemoryStore({ clock }));
  const { plane, close } = await openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock,
    random: systemRandom,
    admission: options.admission ?? withoutAccounts,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    bootstrap: {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 6443 },
    },
  });
  const problems: Error[] = [];
  const server = new ApiServer({
    plane,
    ...testAuthentication(plane, options),
    authorizers: (typeof options.authorizers === 'function' ? options.authorizers(plane) : options.authorizers) ?? [
      privilegedGroup,
    ],
    ...(options.auditor && { auditor: options.auditor }),
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: (error) => problems.push(error),
  });
  const peer = { address: '127.0.0.1', certificate: undefined };
  return {
    plane,
    store,
    async request(
      method,
      target,
      { body, contentType = 'application/json', accept = 'application/json', token, headers: more } = {},
    ) {
      const headers = new Map<string, string[]>([
        ['accept', [accept]],
        ['authorization', [`Bearer ${token ?? administrator.token}`]],
        ...Object.entries(more ?? {}).map(([name, value]) => [name.toLowerCase(), [value].flat()] as const),
      ]);
      if (body !== undefined) headers.set('content-type', [contentType]);
      const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
      const answer = await server.handle({
        method,
        target,
        peer,
        header: (name) => headers.get(name)?.join(', '),
        headerValues: (name) => headers.get(name) ?? [],
        headerNames: () => [...headers.keys()],
        body: () => Promise.resolve(bytes),
      });
      // A failure of the server's own is never what a test is about.
      if (problems.length > 0) throw problems[0]!;
      if (isStreaming(answer.body)) throw new Error('this is for answers that end');
      const whole = Array.isArray(answer.body) ? Buffer.concat(answer.body) : Buffer.from(answer.body as Uint8Array);
      return { status: answer.status, headers: answer.headers, body: whole };
    },
    async [Symbol.asyncDispose]() {
      close();
      await store.close();
    },
  };
}
