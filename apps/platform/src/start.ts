/** The composition root: store, credentials, control plane, server, port. */

import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemClock, systemRandom } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import {
  ApiServer,
  bootstrap,
  CertificateAuthenticator,
  listen,
  openControlPlane,
  privilegedGroup,
  StaticTokenAuthenticator,
} from '@hangar/server';
import type { Authenticator, ControlPlane } from '@hangar/server';
import { openEmbeddedStore, openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { loadCredentials, writeSecret } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import type { PlatformOptions } from './options.ts';
import { readTokens } from './tokens.ts';

export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

/** As kube-apiserver's own defaults. */
const serviceCidr = '10.0.0.0/24';
const serviceAddress = '10.0.0.1';

/** Whatever was opened is closed again when something on the way fails. */
export async function start(options: PlatformOptions): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const opening = openStore(options);
  // Why it could not be opened is told where it is awaited; then there is nothing to close.
  const closing = opening.then(
    (store) => () => store.close(),
    () => undefined,
  );
  opened.defer(async () => (await closing)?.());
  const credentials = await credentialsOf(options);
  const store = await opening;
  const open = await openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock: systemClock,
    random: systemRandom,
  });
  opened.defer(() => open.close());
  const state = { isReady: false, url: '' };
  const server = await apiServer(options, open.plane, state);
  const listener = await listen({
    host: options.host,
    port: options.port,
    key: credentials.server.key,
    certificate: credentials.server.certificate,
    clientCas: credentials.authority.certificate,
    clock: systemClock,
    handler: (request) => server.handle(request),
    onError: (error) => console.error(error),
  });
  opened.defer(() => listener.close());
  const address = isAny(options.host) ? '127.0.0.1' : options.host;
  state.url = `https://${address.includes(':') ? `[${address}]` : address}:${listener.port}`;
  await bootstrap(open.plane, { serviceCidr, serviceAddress, endpoint: { address, port: listener.port } });
  await writeKubeconfig(options.kubeconfig, state.url, credentials);
  state.isReady = true;
  opened.defer(() => void (state.isReady = false));
  const running = opened.move();
  return { url: state.url, close: () => running.disposeAsync() };
}

function credentialsOf({ host, hosts, dataDirectory }: PlatformOptions): Promise<Credentials> {
  const addresses = isAny(host) ? [] : [host];
  const world = { clock: systemClock, random: systemRandom };
  return loadCredentials(dataDirectory, [...addresses, ...hosts, serviceAddress], world);
}

async function apiServer(
  options: PlatformOptions,
  plane: ControlPlane,
  state: { readonly isReady: boolean; readonly url: string },
): Promise<ApiServer> {
  return new ApiServer({
    plane,
    authenticators: await authenticators(options),
    authorizers: [privilegedGroup],
    health: {
      livez: [ping],
      readyz: [ping, { name: 'store', check: () => storeProblem(plane.store) }, readiness(() => state.isReady)],
    },
    address: () => state.url.replace('https://', ''),
    onError: (error) => console.error(error),
  });
}

async function writeKubeconfig(path: string, url: string, { authority, admin }: Credentials): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const text = kubeconfig({
    name: 'hangar',
    user: 'admin',
    server: url,
    authority: authority.certificate,
    credentials: admin,
  });
  await writeSecret(path, text);
}

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::';

const ping = { name: 'ping', check: () => undefined };
const readiness = (isReady: () => boolean) => ({
  name: 'startup',
  check: () => (isReady() ? undefined : 'not started, or stopping'),
});

async function storeProblem(store: Store): Promise<string | undefined> {
  try {
    await store.revision();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function openStore({ store, dataDirectory }: PlatformOptions): Promise<Store> {
  switch (store.type) {
    case 'embedded':
      return openEmbeddedStore({ directory: `${dataDirectory}/store` });
    case 'memory':
      return openMemoryStore();
    case 'etcd':
      return (await import('@hangar/store/etcd')).openEtcdStore({ endpoints: store.endpoints });
  }
}

async function authenticators({ tokenFile }: PlatformOptions): Promise<Authenticator[]> {
  const all: Authenticator[] = [new CertificateAuthenticator(systemClock)];
  if (tokenFile !== undefined) all.push(new StaticTokenAuthenticator(readTokens(await readFile(tokenFile, 'utf8'))));
  return all;
}
