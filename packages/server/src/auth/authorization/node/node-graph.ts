/**
 * The objects that belong to each node:
 *
 *   node ← pod ← secret, configmap, service account, resource claim, persistent volume claim
 *                persistent volume claim ← persistent volume ← secret
 *   node ← volume attachment, resource slice
 *
 * Loaded with the first request of a node; then every change of a pod updates only its references.
 */

import type { KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { collectionPrefix } from '../../../control-plane.ts';
import type { ControlPlane } from '../../../control-plane.ts';
import { StoreFollower } from '../../../objects/store-follower.ts';
import { podReferences } from './pod-references.ts';
import type { Pod } from './pod-references.ts';
import { volumeSecrets } from './volume-secrets.ts';
import type { PersistentVolume } from './volume-secrets.ts';

export type OwnedKind =
  | 'pods'
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'resourceclaims'
  | 'volumeattachments'
  | 'resourceslices';

interface Volume {
  readonly claim: string;
  readonly secrets: readonly string[];
}

/** Objects that one object ties to a node; undefined: none. */
interface Ties {
  readonly node: string;
  /** `kind namespace/name`: kinds have no spaces. */
  readonly keys: readonly string[];
}

export class NodeGraph {
  readonly #plane: ControlPlane;
  readonly #followers: StoreFollower[] = [];
  /** `kind namespace/name` → node → number of objects. */
  readonly #nodesOf = new Map<string, Map<string, number>>();
  readonly #volumes = new Map<string, Volume>();
  readonly #volumesOfSecret = new Map<string, Set<string>>();
  #starting: Promise<void> | undefined;
  #isReady = false;
  #isClosed = false;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Rejects if the store cannot be read; the next call retries. */
  ready(): Promise<void> {
    return (this.#starting ??= this.#start().catch((error: unknown) => {
      this.#starting = undefined;
      throw error;
    }));
  }

  close(): void {
    this.#isClosed = true;
    for (const follower of this.#followers) follower.close();
  }

  /** Reports whether the node needs this object. */
  isTied(node: string, kind: OwnedKind, namespace: string, name: string): boolean {
    const path = `${namespace}/${name}`;
    if (kind === 'persistentvolumes') return this.#isVolumeTied(node, this.#volumes.get(name));
    if (this.#nodesOf.get(`${kind} ${path}`)?.has(node)) return true;
    if (kind !== 'secrets') return false;
    for (const volume of this.#volumesOfSecret.get(path) ?? []) {
      if (this.#isVolumeTied(node, this.#volumes.get(volume))) return true;
    }
    return false;
  }

  #isVolumeTied(node: string, volume: Volume | undefined): boolean {
    return volume !== undefined && (this.#nodesOf.get(`persistentvolumeclaims ${volume.claim}`)?.has(node) ?? false);
  }

  async #start(): Promise<void> {
    const followers = [
      this.#following('', 'v1', 'pods', podTies),
      this.#following('storage.k8s.io', 'v1', 'volumeattachments', nodeTies('volumeattachments')),
      this.#following('resource.k8s.io', 'v1', 'resourceslices', nodeTies('resourceslices')),
      this.#followingVolumes(),
    ];
    try {
      await Promise.all(followers.map((one) => one.start()));
    } catch (error) {
      for (const one of followers) one.close();
      // The next attempt starts from scratch.
      for (const known of [this.#nodesOf, this.#volumes, this.#volumesOfSecret]) known.clear();
      throw error;
    }
    this.#followers.push(...followers);
    if (this.#isClosed) this.close();
    this.#isReady = true;
  }

  #following(
    group: string,
    version: string,
    name: string,
    tiesOf: (object: KubeObject) => Ties | undefined,
  ): StoreFollower {
    const known = new Map<string, Ties>();
    return this.#follow(
      group,
      version,
      name,
      (key, object) => {
        const old = known.get(key);
        if (old) this.#untie(old);
        const ties = object && tiesOf(object);
        if (ties) {
          this.#tie(ties);
          known.set(key, ties);
        } else known.delete(key);
      },
      known,
    );
  }

  #followingVolumes(): StoreFollower {
    return this.#follow(
      '',
      'v1',
      'persistentvolumes',
      (key, object) => {
        const name = key.slice(key.lastIndexOf('/') + 1);
        for (const secret of this.#volumes.get(name)?.secrets ?? []) this.#volumesOfSecret.get(secret)?.delete(name);
        this.#volumes.delete(name);
        const { claimRef } = (object as PersistentVolume | undefined)?.spec ?? {};
        if (!claimRef) return;
        const secrets = volumeSecrets(object as PersistentVolume);
        this.#volumes.set(name, { claim: `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`, secrets });
        for (const secret of secrets) {
          const volumes = this.#volumesOfSecret.get(secret);
          if (volumes) volumes.add(name);
          else this.#volumesOfSecret.set(secret, new Set([name]));
        }
      },
      this.#volumes,
    );
  }

  #follow(
    group: string,
    version: string,
    name: string,
    changed: (key: string, object: KubeObject | undefined) => void,
    known: ReadonlyMap<string, unknown>,
  ): StoreFollower {
    const resource = this.#plane.catalogue.find({ group, version, resource: name })!;
    const prefix = collectionPrefix(this.#plane, resource, '');
    const decode = (entry: Entry): KubeObject | undefined => {
      try {
        return resource.stored.object(entry);
      } catch {
        return undefined;
      }
    };
    return new StoreFollower(this.#plane, prefix, {
      put: (entry) => changed(entry.key, decode(entry)),
      delete: (key) => changed(key, undefined),
      retain: (keys) => {
        const names = new Set([...keys].map((key) => key.slice(key.lastIndexOf('/') + 1)));
        // Volumes are keyed by name, other objects by key.
        for (const key of known.keys()) if (!keys.has(key) && !names.has(key)) changed(key, undefined);
      },
    });
  }

  #tie({ node, keys }: Ties): void {
    for (const key of keys) {
      let nodes = this.#nodesOf.get(key);
      if (!nodes) this.#nodesOf.set(key, (nodes = new Map()));
      nodes.set(node, (nodes.get(node) ?? 0) + 1);
    }
  }

  #untie({ node, keys }: Ties): void {
    for (const key of keys) {
      const nodes = this.#nodesOf.get(key);
      const count = nodes?.get(node) ?? 0;
      if (count > 1) nodes!.set(node, count - 1);
      else nodes?.delete(node);
      if (nodes?.size === 0) this.#nodesOf.delete(key);
    }
  }
}

function podTies(object: KubeObject): Ties | undefined {
  const pod = object as Pod;
  const node = pod.spec?.nodeName;
  if (!node) return undefined;
  const { namespace = '', name = '' } = pod.metadata;
  const keys = podReferences(pod).map((one) => `${one.kind} ${namespace}/${one.name}`);
  return { node, keys: [`pods ${namespace}/${name}`, ...new Set(keys)] };
}

const nodeTies =
  (kind: OwnedKind) =>
  (object: KubeObject): Ties | undefined => {
    const node = (object['spec'] as { nodeName?: string } | undefined)?.nodeName;
    return node ? { node, keys: [`${kind} /${object.metadata.name ?? ''}`] } : undefined;
  };
