/** The API of a cluster as the tests use it: objects by path, and waiting for what controllers do with them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf } from '../differential/client.ts';
import type { Received } from '../differential/client.ts';
import type { ControlPlane } from '../servers/index.ts';

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
    readonly [other: string]: unknown;
  };
  // The shape of the rest is what each test expects of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [other: string]: any;
}

export interface KubeList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubeObject[];
}

export interface Api extends Disposable {
  /** Undefined when it is not there. */
  get(path: string): Promise<KubeObject | undefined>;
  list(path: string): Promise<readonly KubeObject[]>;
  create(path: string, object: object): Promise<KubeObject>;
  replace(path: string, object: object): Promise<KubeObject>;
  /** A merge patch. */
  patch(path: string, change: object): Promise<KubeObject>;
  remove(path: string, options?: object): Promise<void>;
  /** The refusal; fails when the server accepts. */
  refusal(path: string, object: object): Promise<{ code: number; reason: string; message: string }>;
  /** Waits until `probe` gives something; fails with what it was that did not happen. */
  eventually<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T>;
}

const eventuallyMs = 60_000;
const pollMs = 150;

export async function apiOf(plane: ControlPlane): Promise<Api> {
  const client = await clientOf(plane);
  const send = (method: string, target: string, body?: object, contentType = 'application/json'): Promise<Received> =>
    client.send({
      method,
      target,
      headers: { accept: 'application/json', ...(body && { 'content-type': contentType }) },
      body: body && JSON.stringify(body),
    });
  const accepted = (received: Received, what: string): KubeObject => {
    if (received.status < 200 || received.status > 299) throw new Error(`${what}: ${received.status} ${received.text}`);
    return JSON.parse(received.text) as KubeObject;
  };
  return {
    async get(path) {
      const received = await send('GET', path);
      return received.status === 404 ? undefined : accepted(received, `GET ${path}`);
    },
    list: async (path) => (accepted(await send('GET', path), `GET ${path}`) as unknown as KubeList).items,
    create: async (path, object) => accepted(await send('POST', path, object), `POST ${path}`),
    replace: async (path, object) => accepted(await send('PUT', path, object), `PUT ${path}`),
    patch: async (path, change) =>
      accepted(await send('PATCH', path, change, 'application/merge-patch+json'), `PATCH ${path}`),
    async remove(path, options) {
      const received = await send('DELETE', path, options);
      if (received.status !== 404) accepted(received, `DELETE ${path}`);
    },
    async refusal(path, object) {
      const received = await send('POST', path, object);
      if (received.status < 400) throw new Error(`POST ${path} was accepted: ${received.text}`);
      return JSON.parse(received.text) as { code: number; reason: string; message: string };
    },
    async eventually(what, probe) {
      const deadlineMs = performance.now() + eventuallyMs;
      let last: unknown;
      for (;;) {
        // A server that is being started again does not answer for a while.
        const found = await probe().catch((error: unknown) => void (last = error));
        if (found !== undefined && found !== false) return found;
        if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${what}`, { cause: last });
        await sleep(pollMs);
      }
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
