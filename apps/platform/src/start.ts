/** The composition root: store, credentials, control plane, server, port. */

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StatusError } from '@hangar/api';
import { systemClock, systemRandom } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import {
  advertisedTenantAuthority,
  Aggregator,
  ApiServer,
  AuthenticationPublisher,
  bootstrap,
  CacheBudget,
  FairQueue,
  isPublicPath,
  listen,
  ObservedStore,
  openControlPlane,
  Outbound,
  insistOnRoot,
  servingCertificates,
  Tenancy,
  TenantFairness,
  usageStatus,
} from '@hangar/server';
import type { ApiServerOptions, ControlPlane, Handler } from '@hangar/server';
import type { Store } from '@hangar/store';
import { authentication } from './authentication.ts';
import type { Authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { frontProxyName, loadCredentials, usualHosts, writeSecret } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { FollowedFiles } from './followed-file.ts';
import { followServing, renewRegularly, servingPair } from './serving.ts';
import type { ServingPair } from './serving.ts';
import { encrypted } from './encryption.ts';
import type { PlatformOptions } from './options.ts';
import { openStore } from './store.ts';

export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

const storePrefix = '/registry';
/** As kube-apiserver's own defaults. */
const serviceCidr = '10.0.0.0/24';
const serviceAddress = '10.0.0.1';

/** Whatever was opened is closed again when something on the way fails. */
export async function start(options: PlatformOptions, log: Logger): Promise<Running> {
  await using opened = new AsyncDisposableStack();
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const opening = openStore(options);
  // Why it could not be opened is told where it is awaited; then there is nothing to close.
  const closing = opening.then(
    (store) => () => store.close(),
    () => undefined,
  );
  opened.defer(async () => (await closing)?.());
  let credentials = await credentialsOf(options);
  const outbound = new Outbound({ allow: options.outboundAllow });
  opened.defer(() => outbound.close());
  const files = new FollowedFiles({ clock: systemClock, log });
  opened.defer(() => files.close());
  const trusted = await authentication(options, credentials, { outbound, files });
  const measured = new ObservedStore(await opening, storePrefix, systemClock);
  const store = await encrypted(measured, storePrefix, options);
  const auditor = options.audit && (await (await import('./audit.ts')).openAuditor(options.audit, outbound, log));
  opened.defer(() => auditor?.close());
  const cacheBudget = new CacheBudget(options.cacheBytesMax);
  const open = await openControlPlane({
    name: 'root',
    prefix: storePrefix,
    store,
    clock: systemClock,
    random: systemRandom,
    outbound,
    cacheBudget,
    admission: options.admission,
  });
  opened.defer(() => open.close());
  const state = { isStarted: false, isReady: false, url: '' };
  const allowed = await authorization(open.plane, options.authorization, (error) =>
    log.error('the authorization configuration is not used', { error }),
  );
  opened.defer(() => allowed.close());
  const fairQueue = new FairQueue({ clock: systemClock, ...options.flow });
  const fairness = new TenantFairness({ queue: fairQueue, plane: open.plane });
  opened.defer(() => fairness.close());
  const aggregation = aggregationOf(open.plane, () => credentials, log);
  opened.defer(() => aggregation.close());
  const tenancy = new Tenancy({
    root: open.plane,
    store,
    storePrefix,
    clock: systemClock,
    random: systemRandom,
    outbound,
    admission: options.admission,
    cacheBudget,
    fairQueue,
    bootstrap: () => ({ serviceCidr, serviceAddress, endpoint: endpointOf(options, listener.port) }),
    ownHosts: () => [...usualHosts, ...options.hosts],
    rootGuard: () => server.guard,
    url: (path) => `${options.externalUrl ?? state.url}/clusters/${path}/control-plane`,
    servingCa: () => servingCa(options, credentials, pair),
    onError: (error) => log.error('a request to a tenant failed', { error }),
    onDestroyed: (tenant, usage) => log.info('tenant destroyed', { tenant, usage: usageStatus(usage) }),
    ...(auditor && { auditor }),
  });
  opened.defer(() => tenancy.close());
  const server = apiServer(trusted, open.plane, {
    state,
    log,
    aggregator: aggregation.aggregator,
    authorizers: [allowed],
    fairness,
    metrics: () => [measured.text(), fairQueue.text(), tenancy.metricsText()].join('\n'),
    ...(auditor && { auditor }),
  });
  const world = { clock: systemClock, random: systemRandom };
  const hostCertificates = servingCertificates({ authority: () => credentials.authority, ...world });
  const pair = await servingPair(options.serving, credentials, options.dataDirectory);
  const listener = await listen({
    host: options.host,
    port: options.port,
    key: pair.key,
    certificate: pair.certificate,
    clientCas: trusted.clientCas,
    advertisedCas: advertisedTenantAuthority,
    serverCertificate: (name) => (tenancy.tenants.findByHost(name) ? hostCertificates(name) : undefined),
    clock: systemClock,
    handler: logged(
      onceStarted(
        tenancy.handler((request) => server.handle(request)),
        state,
      ),
      log,
    ),
    closeGraceMs: requestLastsMs,
    onError: (error) => log.error('a connection failed', { error }),
  });
  opened.defer(() => listener.close());
  followServing({ listener, pair, trusted, clientCaFile: options.serving.clientCaFile, files });
  const renewal = renewRegularly(async () => {
    const { admin } = credentials;
    credentials = await credentialsOf(options);
    // Not without need: people add their own users to it.
    if (credentials.admin.certificate !== admin.certificate) {
      await writeKubeconfig(options, state.url, credentials, pair);
    }
  }, log);
  opened.defer(() => renewal.close());
  const address = reachable(options);
  state.url = `https://${address.includes(':') ? `[${address}]` : address}:${listener.port}`;
  await bootstrap(open.plane, { serviceCidr, serviceAddress, endpoint: endpointOf(options, listener.port) });
  await tenancy.start();
  await aggregation.start();
  await writeKubeconfig(options, state.url, credentials, pair);
  state.isStarted = true;
  state.isReady = true;
  opened.defer(() => void (state.isReady = false));
  const running = opened.move();
  return { url: state.url, close: () => running.disposeAsync() };
}

/** What webhooks may take, at most: who is under way when the server is stopped is answered. */
const requestLastsMs = 30_000;

const starting = { status: 503, headers: { 'content-type': 'application/json', 'retry-after': '1' } } as const;

/**
 * Until everything that was stored is served, nothing can be said to be absent: a controller would take that for a
 * deletion. Whether the server is well can be asked at any time.
 */
function onceStarted(handler: Handler, state: { readonly isStarted: boolean }): Handler {
  const { status } = new StatusError('ServiceUnavailable', 'the server is starting', {
    details: { retryAfterSeconds: 1 },
  });
  const body = Buffer.from(JSON.stringify(status));
  return (request) =>
    state.isStarted || isPublicPath(request.target.split('?', 1)[0]!)
      ? handler(request)
      : Promise.resolve({ ...starting, body });
}

/** Every request, for those who look for one. */
function logged(handler: Handler, log: Logger): Handler {
  if (!log.isOn('debug')) return handler;
  return async (request) => {
    const begunMs = systemClock.monotonicMs();
    const answer = await handler(request);
    const { method, target, peer } = request;
    const ms = Math.round((systemClock.monotonicMs() - begunMs) * 1_000) / 1_000;
    log.debug('request', { method, target, status: answer.status, ms, from: peer.address });
    return answer;
  };
}

function credentialsOf({ host, hosts, dataDirectory }: PlatformOptions): Promise<Credentials> {
  const addresses = isAny(host) ? [] : [host];
  const world = { clock: systemClock, random: systemRandom };
  return loadCredentials(dataDirectory, [...addresses, ...hosts, serviceAddress], world);
}

/** Who is asked about requests, and who is told of them. */
type Accounts = Pick<ApiServerOptions, 'aggregator' | 'auditor' | 'authorizers' | 'fairness' | 'metrics'>;

interface State {
  readonly isReady: boolean;
  readonly url: string;
}

function apiServer(
  trusted: Authentication,
  plane: ControlPlane,
  { state, log, ...accounts }: Accounts & { readonly state: State; readonly log: Logger },
): ApiServer {
  return new ApiServer({
    plane,
    ...trusted.of(plane),
    ...accounts,
    health: {
      livez: [ping],
      readyz: [ping, { name: 'store', check: () => storeProblem(plane.store) }, readiness(() => state.isReady)],
    },
    address: () => state.url.replace('https://', ''),
    admits: (_info, request) => insistOnRoot(request),
    onError: (error) => log.error('a request failed', { error }),
  });
}

/** What other servers serve behind this one, and how they know it. */
function aggregationOf(plane: ControlPlane, credentials: () => Credentials, log: Logger) {
  const onError = (error: Error): void => log.error('an aggregated API could not be looked after', { error });
  const { authority, frontProxyAuthority } = credentials();
  const aggregator = new Aggregator({ plane, clientCertificate: () => credentials().frontProxy, onError });
  const published = {
    clientCa: authority.certificate,
    frontProxyCa: frontProxyAuthority.certificate,
    allowedNames: [frontProxyName],
  };
  const publisher = new AuthenticationPublisher(plane, () => published, onError);
  return {
    aggregator,
    start: () => Promise.all([publisher.start(), aggregator.start()]),
    close() {
      publisher.close();
      aggregator.close();
    },
  };
}

async function writeKubeconfig(
  options: PlatformOptions,
  url: string,
  credentials: Credentials,
  pair: ServingPair,
): Promise<void> {
  const { kubeconfig: path } = options;
  await mkdir(dirname(path), { recursive: true });
  const text = kubeconfig({
    name: 'hangar',
    user: 'admin',
    server: url,
    authority: servingCa(options, credentials, pair),
    credentials: credentials.admin,
  });
  await writeSecret(path, text);
}

/** Clients trust what the port shows, whoever issued that. */
const servingCa = ({ serving }: PlatformOptions, { authority }: Credentials, pair: ServingPair): string =>
  serving.certificateFile === undefined ? authority.certificate : `${authority.certificate}${pair.certificate}`;

const reachable = ({ host }: PlatformOptions): string => (isAny(host) ? '127.0.0.1' : host);

/** Where clients in the cluster find this server. */
const endpointOf = (options: PlatformOptions, port: number): { address: string; port: number } => ({
  address: options.advertiseAddress ?? reachable(options),
  port,
});

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
