/**
 * The interfaces between the parts of the controller manager.
 *
 *   fleet ──clusters──▶ registry ──owned clusters (runtime's Coordinator)──▶ engine ──states──▶ registry ──▶ conditions, serve
 *
 * The **fleet** lists the clusters and how to connect to them. The **registry** requests ownership of each from the coordinator and assigns
 * the owned ones to an **engine**. An engine runs one service of one cluster and reports its state. **serve** shows the state, and
 * **conditions** writes it.
 */

import type { ObjectKey } from '@hangar/client';
import type { Ownership } from '@hangar/runtime/clusters';

export const services = ['controllers', 'scheduler'] as const;
/** A service that a cluster is registered for and that is run for it. */
export type Service = (typeof services)[number];

/** The object that represents a cluster and has the conditions. */
export interface SourceObject {
  readonly kind: 'ControlPlaneRegistration' | 'ControlPlaneEndpoint';
  readonly name: string;
  readonly uid: string;
}

/** The object that represents one service of a cluster, and the address of the cluster in it. */
export interface ServiceSource extends SourceObject {
  readonly address?: string | undefined;
  readonly secret?: ObjectKey | undefined;
}

/** A cluster in the fleet. Immutable; every change creates a new one. */
export interface FleetCluster {
  /** Name of the control plane: unique in the fleet. */
  readonly name: string;
  readonly source: SourceObject;
  /** The objects that request the services, where they differ; read by `ofService` (fleet). Absent: `source` requests all of them. */
  readonly sources?: ReadonlyMap<Service, ServiceSource>;
  readonly services: ReadonlySet<Service>;
  readonly labels: Readonly<Record<string, string>>;
  /** Overrides the address in the kubeconfig. Undefined: the address in the kubeconfig. */
  readonly address: string | undefined;
  /** The Secret that contains the kubeconfig. Undefined: not known yet. */
  readonly secret: ObjectKey | undefined;
}

export interface FleetListener {
  /** Called when the cluster was added or changed, also while it is not ready: its services run until it is gone. */
  changed(cluster: FleetCluster): void;
  /** Called when the cluster was removed, or is no longer registered for any of our services. */
  gone(name: string): void;
  /** Called after the initial clusters were reported. */
  synced(): void;
}

export interface Fleet {
  /** Runs until the signal. Retries transient failures. Called once. */
  follow(listener: FleetListener, signal: AbortSignal): Promise<void>;
}

/** Kubeconfigs in Secrets of the management plane. Each is read by name: no permission to read others is required. */
export interface Kubeconfigs {
  /** Calls `tell` with the kubeconfig, now and after each change; undefined while there is none. Returns a function that stops it. */
  follow(secret: ObjectKey, tell: (kubeconfig: string | undefined) => void): () => void;
  /** Reads the current kubeconfig. */
  read(secret: ObjectKey, signal: AbortSignal): Promise<string | undefined>;
}

/** State of a service. Reasons are those of conditions: CamelCase, few, stable. */
export interface ServiceState {
  /**
   *   Waiting      for a missing dependency: a kubeconfig, the cluster itself
   *   Starting     in progress
   *   Ready        running
   *   BackingOff   it exited or could not start, and is retried later
   *   Failed       requires an external change
   *   Stopping     nothing new starts
   */
  readonly phase: 'Waiting' | 'Starting' | 'Ready' | 'BackingOff' | 'Failed' | 'Stopping';
  readonly reason: string;
  /** One line, without secrets. */
  readonly message: string;
  /** Number of restarts, for any reason. */
  readonly restarts: number;
  /** The last failure, also after recovery; one line. */
  readonly lastError?: string | undefined;
  readonly process?: ServiceProcess | undefined;
}

/** The operating system process of a service. */
export interface ServiceProcess {
  readonly pid: number;
  /** Port on the loopback interface: health and metrics, over TLS, without authentication. */
  readonly port: number;
  readonly startedAt: Date;
}

/** One service of one cluster that this process owns. */
export interface Assignment {
  readonly cluster: FleetCluster;
  readonly service: Service;
  /** Required for every change in the cluster; see `Ownership.remainingMs`. */
  readonly ownership: Ownership;
  /** Called on every change of the state. Cheap; never throws. */
  readonly report: (state: ServiceState) => void;
}

export interface Serving {
  /** The cluster has changed: same name, same source object. */
  update(cluster: FleetCluster): void;
  /** Starts nothing new; resolves when all processes and files are gone. Never rejects. Idempotent. */
  stop(): Promise<void>;
}

export interface Engine {
  readonly name: 'kube' | 'essential';
  /** Returns at once and never throws: problems are reported. */
  serve(assignment: Assignment): Serving;
}

/** A row of the registry's table. */
export interface ClusterRow {
  readonly cluster: FleetCluster;
  /** False: another replica owns it, or none. */
  readonly isOwned: boolean;
  readonly engines: ReadonlyMap<Service, Engine['name']>;
  /** States of the services that this process owns. */
  readonly states: ReadonlyMap<Service, ServiceState>;
}
