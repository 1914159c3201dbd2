/**
 * Garbage collection with the semantics of Kubernetes, for all control planes. It keeps only objects with owners, and owners that are being
 * deleted and wait for their dependents. See README.md.
 *
 * The name of a request is the uid of a node: the reconcile decides from the graph and the server.
 */

import type { KubeObject } from '@hangar/api';
import type { Request } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, RemoteWorld, FleetController, ResourceId } from '../contract.ts';
import { KindMappers } from '../shared/kind-mappers.ts';
import { Graph } from './graph.ts';
import type { Node } from './node.ts';
import { SeenObjects } from './seen-objects.ts';
import { mayConcern, uidOf } from './stored-bytes.ts';
import { collect } from './steps/collect.ts';
import { finishForeground } from './steps/foreground.ts';
import { orphan } from './steps/orphan.ts';
import type { Work } from './steps/work.ts';

export class GarbageCollector implements FleetController {
  readonly name = 'garbage-collector';
  readonly concurrency = 256;
  readonly perCluster = 16;
  readonly #world: RemoteWorld;
  readonly #mappers: KindMappers;
  readonly #graphs = new Map<string, Graph>();
  /** Undefined after all initial objects were delivered. */
  #seen: SeenObjects | undefined = new SeenObjects();

  constructor(world: RemoteWorld) {
    this.#world = world;
    this.#mappers = new KindMappers(world);
  }

  /** Number of nodes of all control planes. */
  get size(): number {
    return this.#graphs.values().reduce((sum, { nodes }) => sum + nodes.size, 0);
  }

  /** As in Kubernetes: events have no dependents, are many, and expire. */
  wants({ resource, group }: ResourceId): boolean {
    return !(resource === 'events' && (group === '' || group === 'events.k8s.io'));
  }

  changed(change: Change, ask: Ask): void {
    const { cluster, type } = change;
    const graph = this.#graphs.get(cluster);
    if (type === 'delete') {
      if (graph) this.#deleted(graph, change, ask);
      return;
    }
    if (change.isInitial) this.#noteSeen(change, graph);
    // The object is neither relevant nor known.
    if (!mayConcern(change.bytes) && !mayBeKnown(graph, change)) return;
    this.#put(change, ask);
  }

  synced(ask: Ask): void {
    const seen = this.#seen;
    this.#seen = undefined;
    // Control planes with a running replay are handled by `clusterTold`: their state may be incomplete.
    for (const [cluster, graph] of this.#graphs) if (!graph.seen) this.#told(cluster, graph, seen, ask);
  }

  clusterComing(cluster: string): void {
    const graph = this.#graphs.get(cluster);
    if (!graph) this.#graphs.set(cluster, new Graph(new SeenObjects()));
    else graph.seen ??= new SeenObjects();
  }

  clusterTold(cluster: string, ask: Ask): void {
    const graph = this.#graphs.get(cluster);
    if (graph) this.#told(cluster, graph, graph.seen, ask);
  }

  reset(): void {
    this.#graphs.clear();
    this.#mappers.clear();
    this.#seen = new SeenObjects();
  }

  clusterGone(cluster: string): void {
    this.#graphs.delete(cluster);
    this.#mappers.forget(cluster);
  }

  async reconcile({ cluster, name: uid }: Request, context: ControllerContext): Promise<void> {
    const graph = this.#graphs.get(cluster);
    const node = graph?.nodes.get(uid);
    // Nodes of a running replay are enqueued when it completes.
    if (!graph || !node || this.#seen || graph.seen) return;
    const { client, signal, log, ask } = context;
    const work: Work = {
      cluster,
      client,
      mapper: this.#mappers.of(cluster),
      graph,
      clock: this.#world.clock,
      signal,
      log: log.child({ resource: node.resource, namespace: node.namespace, name: node.name }),
      ask: (other) => ask({ cluster, name: other.uid }),
    };
    if (node.state === 'orphan') await orphan(work, node);
    else if (node.state === 'foreground') await finishForeground(work, node);
    else if (node.state === 'live') await collect(work, node);
  }

  #put(change: Change, ask: Ask): void {
    const { cluster, isInitial } = change;
    const graph = this.#graphs.get(cluster) ?? this.#newGraph(cluster, isInitial);
    const { before, now } = graph.put(change, change.object());
    if (!isInitial && !graph.seen && !this.#seen) this.#askAbout(graph, before, now, ask, cluster);
    if (graph.isEmpty && !graph.seen) this.#graphs.delete(cluster);
  }

  #newGraph(cluster: string, isInitial: boolean): Graph {
    const graph = new Graph(isInitial && !this.#seen ? new SeenObjects() : undefined);
    this.#graphs.set(cluster, graph);
    return graph;
  }

  #noteSeen(change: Change, graph: Graph | undefined): void {
    const { cluster, namespace, name, bytes } = change;
    const uid = uidOf(bytes) ?? uidIn(change.object());
    let seen = this.#seen;
    if (!seen) {
      // A control plane that is replayed.
      const told = graph ?? this.#newGraph(cluster, true);
      seen = told.seen ??= new SeenObjects();
    }
    seen.add({ cluster, namespace, name, uid });
  }

  #deleted(graph: Graph, change: Change, ask: Ask): void {
    const { cluster, namespace, name } = change;
    const uid = uidOf(change.bytes) ?? uidIn(change.object());
    graph.seen?.remove({ cluster, namespace, name, uid });
    const { before, dependents } = graph.delete(uid, namespace);
    if (!graph.seen && !this.#seen) {
      for (const dependent of dependents) ask({ cluster, name: dependent.uid });
      for (const { owner } of before?.ownerships ?? []) {
        if (graph.nodes.get(owner.uid)?.state === 'foreground') ask({ cluster, name: owner.uid });
      }
    }
    if (graph.isEmpty && !graph.seen) this.#graphs.delete(cluster);
  }

  /** Enqueues the requests that a change of a node requires. */
  #askAbout(graph: Graph, before: Node | undefined, now: Node | undefined, ask: Ask, cluster: string): void {
    for (const { owner, blocks } of before?.ownerships ?? []) {
      const isReleased = !now?.ownerships.some((one) => one.owner.uid === owner.uid && (one.blocks || !blocks));
      if (isReleased && graph.nodes.get(owner.uid)?.state === 'foreground') ask({ cluster, name: owner.uid });
    }
    if (!now) return;
    const name = now.uid;
    if (now.state !== before?.state && (now.state === 'foreground' || now.state === 'orphan')) {
      ask({ cluster, name });
      if (now.state === 'foreground') for (const { uid } of graph.dependentsOf(name)) ask({ cluster, name: uid });
    }
    const isNew = (uid: string): boolean => !before?.ownerships.some(({ owner }) => owner.uid === uid);
    for (const { owner, isDeviant } of now.ownerships) {
      if (!isNew(owner.uid)) continue;
      const isWaiting = graph.nodes.get(owner.uid)?.state === 'foreground';
      if (isDeviant || isWaiting || !owner.isFoundFor(now.namespace)) ask({ cluster, name });
      if (isWaiting) ask({ cluster, name: owner.uid });
    }
  }

  /** All objects of the control plane are known: enqueues pending deletions and objects with a missing owner. */
  #told(cluster: string, graph: Graph, seen: SeenObjects | undefined, ask: Ask): void {
    graph.seen = undefined;
    for (const node of graph.nodes.values()) {
      const { uid: name, state, namespace } = node;
      if (state === 'foreground' || state === 'orphan') ask({ cluster, name });
      const isHeld = node.ownerships.every(({ owner, isDeviant }) => {
        if (isDeviant || graph.nodes.get(owner.uid)?.state === 'foreground') return false;
        for (const where of namespace === '' ? [''] : [namespace, '']) {
          if (!seen?.has({ cluster, namespace: where, name: owner.name, uid: owner.uid })) continue;
          owner.foundIn = where;
          return true;
        }
        return false;
      });
      if (!isHeld) ask({ cluster, name });
    }
    if (graph.isEmpty) this.#graphs.delete(cluster);
  }
}

function mayBeKnown(graph: Graph | undefined, { bytes }: Change): boolean {
  if (!graph || graph.nodes.size === 0) return false;
  const uid = uidOf(bytes);
  return uid === undefined || graph.nodes.has(uid);
}

const uidIn = ({ metadata }: KubeObject): string => metadata.uid ?? '';
