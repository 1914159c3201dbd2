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
import type { Authenticator } from '@hangar/server';
import { openEmbeddedStore, openEtcdStore, openMemoryStore } from '@hangar/store';
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

export async function start(options: PlatformOptions): Promise<Running> {
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const addresses = isAny(options.host) ? [] : [options.host];
  const [store, credentials] = await Promise.all([
    openStore(options),
    loadCredentials(options.dataDirectory, [...addresses, ...options.hosts, serviceAddress], {
      clock: systemClock,
      random: systemRandom,
    }),
  ]);
  try {
    return await serve(options, store, credentials);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function serve(options: PlatformOptions, store: Store, credentials: Credentials): Promise<Running> {
  const clock = systemClock;
  let isReady = false;
  const shown = isAny(options.host) ? '127.0.0.1' : options.host;
  const open = await openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock,
    random: systemRandom,
  });
  let url = '';
  const server = new ApiServer({
    plane: open.plane,
    authenticators: await authenticators(options),
    authorizers: [privilegedGroup],
    health: {
      livez: [ping],
      readyz: [ping, { name: 'store', check: () => storeProblem(store) }, readiness(() => isReady)],
    },
    address: () => url.replace('https://', ''),
    onError: (error) => console.error(error),
  });
  const listener = await listen({
    host: options.host,
    port: options.port,
    key: credentials.server.key,
    certificate: credentials.server.certificate,
    clientCas: credentials.authority.certificate,
    clock,
    handler: (request) => server.handle(request),
    onError: (error) => console.error(error),
  });
  await bootstrap(open.plane, { serviceCidr, serviceAddress, endpoint: { address: shown, port: listener.port } });
  url = `https://${shown.includes(':') ? `[${shown}]` : shown}:${listener.port}`;
  await mkdir(dirname(options.kubeconfig), { recursive: true });
  await writeSecret(
    options.kubeconfig,
    kubeconfig({
      name: 'hangar',
      user: 'admin',
      server: url,
      authority: credentials.authority.certificate,
      credentials: credentials.admin,
    }),
  );
  isReady = true;
  return {
    url,
    async close() {
      isReady = false;
      await listener.close();
      open.close();
      await store.close();
    },
  };
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

function openStore({ store, dataDirectory }: PlatformOptions): Promise<Store> {
  switch (store.type) {
    case 'embedded':
      return openEmbeddedStore({ directory: `${dataDirectory}/store` });
    case 'memory':
      return openMemoryStore();
    case 'etcd':
      return openEtcdStore({ endpoints: store.endpoints });
  }
}

async function authenticators({ tokenFile }: PlatformOptions): Promise<Authenticator[]> {
  const all: Authenticator[] = [new CertificateAuthenticator(systemClock)];
  if (tokenFile !== undefined) all.push(new StaticTokenAuthenticator(readTokens(await readFile(tokenFile, 'utf8'))));
  return all;
}
