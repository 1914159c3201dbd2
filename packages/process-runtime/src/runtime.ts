/** Composes a process runtime: the node, its pods, their network and their storage. */

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { keyOf } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { PersistentVolume, PersistentVolumeClaim, Pod, Service } from '@hangar/client/kinds/core-v1';
import { asError, CleanupStack, systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { EventRecorder, newCluster } from '@hangar/runtime';
import type { Cluster, Informer } from '@hangar/runtime';
import { configOf } from './config/references.ts';
import { PodTokens } from './config/tokens.ts';
import { WatchedObjects } from './config/watched-objects.ts';
import { detectEnclosure } from './enclosure/tools.ts';
import type { EnclosureTools } from './enclosure/tools.ts';
import { ProcessRuntimeError } from './errors.ts';
import { lockFolder } from './folder-lock.ts';
import { ImageResolver } from './images/resolver.ts';
import { Kubelet } from './kubelet/kubelet.ts';
import { defaultNetworks } from './network/addresses.ts';
import { PodNetwork } from './network/network.ts';
import { RuntimeMetrics } from './metrics.ts';
import { machineCapacity, NodeHeart } from './node/node.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { restartBackOff } from './pods/back-off.ts';
import { Pods } from './pods/pods.ts';
import type { PodEvents, PodWorld } from './pods/world.ts';
import { KeeperProcesses } from './processes/keeper-processes.ts';
import { Claims } from './storage/claims.ts';

export interface CloseOptions {
  /** `keep`: programs continue and the next runtime adopts them. `stop`: programs are terminated. Absent: `keep`. */
  readonly pods?: 'keep' | 'stop';
}

export interface ProcessRuntime extends AsyncDisposable {
  readonly nodeName: string;
  /** How volumes are mounted. */
  readonly mounts: 'namespace' | 'rewrite';
  readonly pods: Pods;
  readonly network: PodNetwork;
  /** Port of the kubelet API. Undefined: not listening yet, or disabled. */
  readonly kubeletPort: number | undefined;
  readonly metrics: RuntimeMetrics;
  close(options?: CloseOptions): Promise<void>;
}

const version = '0.1.0';
const component = 'hangar-process-runtime';
/** Volumes are compared with their sources at least this often; tokens are renewed then. */
const resyncMs = 60_000;
const defaultAdoptionMs = 60_000;

/** Rejects with `FolderInUse`, `NotSupported`, or when the node cannot be registered. */
export async function startProcessRuntime(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
  const { client, nodeName, log, clock = systemClock, random = systemRandom, hostIP = '127.0.0.1' } = options;
  const cleanup = new CleanupStack();
  try {
    const lock = lockFolder(options.folder);
    cleanup.defer(() => lock.close());
    // Roots of running programs are compared with paths below it.
    const folder = realpathSync(options.folder);
    const enclosure = await enclosureFor(options.mounts);
    const recorder = new EventRecorder({ component, instance: nodeName, api: 'v1', clock, random, log });
    cleanup.defer(() => recorder.close());
    const clusterEvents = recorder.for({ client });
    const events: PodEvents = {
      normal: (pod, reason, note, part) => clusterEvents.event(pod, { reason, note, action: actionOf(reason, part) }),
      warning: (pod, reason, note, part) =>
        clusterEvents.event(pod, { type: 'Warning', reason, note, action: actionOf(reason, part) }),
    };
    const networks = defaultNetworks(folder);
    const network = new PodNetwork({
      podNetwork: options.podNetwork ?? networks.pods,
      serviceNetwork: options.serviceNetwork ?? networks.services,
      hostIP,
      externalAddresses: options.externalAddresses,
      loadBalancerAddresses: options.loadBalancerAddresses,
      recordPath: join(folder, 'services.json'),
      isForwarding: options.isForwarding ?? true,
      apiServer: options.apiServer,
      clock,
      log,
      onLoadBalancer: (service, address) => void publishAddress(service, address),
      onNoAddress: (service, note) => clusterEvents.warning(service, 'AllocationFailed', note),
      onPortInUse: (object, note) => clusterEvents.warning(object, 'PortInUse', note),
    });
    cleanup.defer(() => network.close());
    const processes =
      options.processes ?? new KeeperProcesses({ clock, leaseMs: options.adoptionMs ?? defaultAdoptionMs });
    cleanup.defer(() => processes.release());
    const config = new WatchedObjects({ client, clock, log, onChange: (namespace) => pods.pokeAll(namespace) });
    cleanup.defer(() => config.close());
    const tokens = new PodTokens(client, clock);
    const binding = options.claimBinding ?? 'WaitForFirstConsumer';
    const claims = new Claims({ client, log, nodeName, folder: join(folder, 'claims'), binding });
    const capacity = options.capacity ?? machineCapacity();
    const metrics = new RuntimeMetrics(() => pods.all());
    const world: PodWorld = {
      client,
      clock,
      random,
      log,
      events,
      metrics,
      processes,
      network,
      config,
      enclosure,
      nodeName,
      hostIP,
      images: new ImageResolver(options.images),
      allocatable: capacity,
      podsFolder: join(folder, 'pods'),
      logsFolder: join(folder, 'logs'),
      backOff: options.backOff ?? restartBackOff,
      logBytesMax: options.logBytesMax,
      logFilesMax: options.logFilesMax,
      token: (pod, projection) => tokens.token(pod, projection),
      claimFolder: (pod, claim) => claims.folderOf(pod.metadata.namespace!, claim),
    };
    const pods = new Pods({ world, onNetworkChange: () => refreshNetwork(), onGone: (pod) => forget(pod) });
    cleanup.defer(() => pods.close());

    const forget = (pod: Pod): void => {
      tokens.forget(pod);
      const used = new Set(pods.all().flatMap((worker) => [...configOf(worker.pod)]));
      config.prune((key) => used.has(key));
    };

    const cluster = newCluster({ name: '', client, clock, log });
    const podInformer = cluster.cache.informer(Pod, { fieldSelector: `spec.nodeName=${nodeName}` });
    const services = cluster.cache.informer(Service);
    const refreshNetwork = (): void => {
      if (!network.refresh([...services.all()], pods.localPods())) return;
      for (const worker of pods.all())
        void worker.writeHosts().catch((error) => log.warn('failed to write hosts', { error }));
    };
    const publishAddress = async (service: Service, address: string): Promise<void> => {
      const { namespace, name } = service.metadata;
      const body = { status: { loadBalancer: { ingress: [{ ip: address }] } } };
      await client.status
        .patch(Service, { namespace, name: name! }, { type: 'merge', body })
        .catch((error: unknown) =>
          log.warn('failed to publish the address of a Service', { error: asError(error).message }),
        );
    };

    await claims.createStorageClass();
    let kubelet: Kubelet | undefined;
    const heart = new NodeHeart({
      ...nodeOptions(options, capacity),
      clock,
      address: hostIP,
      externalAddresses: options.externalAddresses,
      version,
      kubeletPort: () => kubelet?.port,
    });
    await heart.start();
    let isStopping = false;
    cleanup.defer(() => heart.close({ isShutDown: isStopping }));
    if (options.kubelet) {
      const onListening = (): void => heart.refresh();
      kubelet = new Kubelet({
        ...options.kubelet,
        client,
        clock,
        log,
        nodeName,
        address: hostIP,
        pods,
        metrics,
        onListening,
      });
      cleanup.defer(() => kubelet?.close());
    }
    const stop = new AbortController();
    const running = cluster.start(stop.signal);
    running.catch(() => {});
    cleanup.defer(async () => {
      stop.abort();
      await running.catch(() => {});
    });
    const onNetwork = { onAdd: refreshNetwork, onUpdate: refreshNetwork, onDelete: refreshNetwork };
    services.addHandler(onNetwork);
    await services.synced(stop.signal);
    refreshNetwork();
    followClaims(cluster, claims, world);
    const known = podInformer.addHandler({
      onAdd: (pod) => pods.update(pod),
      onUpdate: (_before, pod) => pods.update(pod),
      onDelete: (pod) => pods.remove(pod),
    });
    // Journals of pods that the first list does not contain belong to deleted pods.
    await known.synced(stop.signal);
    pods.endLeftovers();
    const resync = (): void => {
      pods.pokeAll();
      refreshNetwork();
    };
    cleanup.defer(repeat(clock, resyncMs, resync));

    const close = async ({ pods: policy = 'keep' }: CloseOptions = {}): Promise<void> => {
      isStopping = policy === 'stop';
      if (isStopping) await pods.stopAll();
      await cleanup.run();
    };
    return {
      nodeName,
      mounts: enclosure ? 'namespace' : 'rewrite',
      pods,
      network,
      get kubeletPort() {
        return kubelet?.port;
      },
      metrics,
      close,
      [Symbol.asyncDispose]: () => close(),
    };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

const actionOf = (reason: string, part: string | undefined): string => (part ? `${reason}:${part}` : reason);

async function enclosureFor(mounts: ProcessRuntimeOptions['mounts']): Promise<EnclosureTools | undefined> {
  if (mounts === 'rewrite') return undefined;
  const found = await detectEnclosure();
  if (!found && mounts === 'namespace') {
    throw new ProcessRuntimeError(
      'NotSupported',
      'this machine does not permit mount namespaces: run as root, permit user namespaces, or use mounts: "rewrite"',
    );
  }
  return found;
}

const nodeOptions = (
  { client, log, nodeName, labels, taints, leaseSeconds }: ProcessRuntimeOptions,
  capacity: Readonly<Record<string, string>>,
) => ({ client, log, name: nodeName, labels, taints, leaseSeconds, capacity });

interface Attempt<T extends ApiObject> {
  readonly informer: Informer<T>;
  readonly what: string;
  readonly object: T;
  readonly work: (object: T) => Promise<void>;
  readonly delayMs?: number;
}

/** Provisions claims of this node, and reclaims volumes of deleted claims. */
function followClaims(cluster: Cluster, claims: Claims, { log, clock, nodeName }: PodWorld): void {
  const attempt = <T extends ApiObject>(tried: Attempt<T>): void => {
    const { informer, what, object, work, delayMs = 500 } = tried;
    work(object).catch((error: unknown) => {
      const fields = { object: object.metadata.name, node: nodeName, error: asError(error).message };
      log.warn(`failed to ${what}, retrying`, fields);
      clock.after(delayMs, () => {
        // A deleted or changed object is handled by its own event.
        const { uid, resourceVersion } = informer.get(keyOf(object))?.metadata ?? {};
        if (uid !== object.metadata.uid || resourceVersion !== object.metadata.resourceVersion) return;
        attempt({ ...tried, delayMs: Math.min(delayMs * 2, 30_000) });
      });
    });
  };
  const claimInformer = cluster.cache.informer(PersistentVolumeClaim);
  const volumes = cluster.cache.informer(PersistentVolume);
  const provision = (object: PersistentVolumeClaim): void =>
    attempt({
      informer: claimInformer,
      what: 'provision a claim',
      object,
      work: (claim) => claims.reconcile(claim),
    });
  const reclaim = (object: PersistentVolume): void =>
    attempt({ informer: volumes, what: 'reclaim a volume', object, work: (volume) => claims.reclaim(volume) });
  claimInformer.addHandler({
    onAdd: provision,
    onUpdate: (_before, claim) => provision(claim),
    onDelete: (claim) => {
      for (const volume of volumes.all()) if (volume.spec?.claimRef?.uid === claim.metadata.uid) reclaim(volume);
    },
  });
  volumes.addHandler({
    // Claims that were deleted while no runtime ran.
    onAdd: (volume, isInitial) => isInitial && reclaim(volume),
    // kube-controller-manager reports the end of a claim by the phase of its volume.
    onUpdate: (_before, volume) => volume.status?.phase === 'Released' && reclaim(volume),
  });
}

/** Returns the function that ends the repetition. */
function repeat(clock: Clock, everyMs: number, work: () => void): () => void {
  const arm = () =>
    clock.after(everyMs, () => {
      work();
      timer = arm();
    });
  let timer = arm();
  return () => timer.cancel();
}
