/**
 * What the parts of the controller manager know of each other.
 *
 *   fleet ──clusters──▶ registry ──the process's own (runtime's Coordinator)──▶ engine ──states──▶ registry ──▶ conditions, serve
 *
 * The **fleet** says which clusters there are and how they are reached; the **registry** asks the coordinator for each and gives
 * those that are this process's to an **engine**; an engine runs one service of one cluster and says how it does. What it says is
 * shown by **serve** and written by **conditions**.
 */

import type { ObjectKey } from '@hangar/client';
import type { Ownership } from '@hangar/runtime/clusters';

export const services = ['controllers', 'scheduler'] as const;
/** What clusters are registered for, and what is run for them. */
export type Service = (typeof services)[number];

/** The object that stands for a cluster, and carries the conditions. */
export interface SourceObject {
  readonly kind: 'ControlPlaneRegistration' | 'ControlPlaneEndpoint';
  readonly name: string;
  readonly uid: string;
}

/** The object that stands for one service of a cluster, and where it says that the cluster is. */
export interface ServiceSource extends SourceObject {
  readonly address?: string | undefined;
  readonly secret?: ObjectKey | undefined;
}

/** A cluster as the fleet knows it. A new one for every change; never changed. */
export interface FleetCluster {
  /** The control plane's name: unique in the fleet. */
  readonly name: string;
  readonly source: SourceObject;
  /** Where services are asked for by different objects: which; `ofService` (fleet) goes by it. Absent: all by `source`. */
  readonly sources?: ReadonlyMap<Service, ServiceSource>;
  readonly services: ReadonlySet<Service>;
  readonly labels: Readonly<Record<string, string>>;
  /** Where it is, whatever its kubeconfig says. Undefined: what the kubeconfig says. */
  readonly address: string | undefined;
  /** Where its kubeconfig is. Undefined: not known yet. */
  readonly secret: ObjectKey | undefined;
}

export interface FleetListener {
  /** It is there, or is another now. Also told while it is not ready: what runs for it goes on until it is gone. */
  changed(cluster: FleetCluster): void;
  /** It was removed, or is registered for none of our services any more. */
  gone(name: string): void;
  /** All that there was at first has been told. */
  synced(): void;
}

export interface Fleet {
  /** Until the signal. What may pass by itself is retried inside. Once. */
  follow(listener: FleetListener, signal: AbortSignal): Promise<void>;
}

/** Kubeconfigs in Secrets of the management plane. Each is asked for by its name: no right to read others is needed. */
export interface Kubeconfigs {
  /** Tells what is there, now and after each change of it; undefined while there is none. Returns the way to end it. */
  follow(secret: ObjectKey, tell: (kubeconfig: string | undefined) => void): () => void;
  /** As it is at this moment. */
  read(secret: ObjectKey, signal: AbortSignal): Promise<string | undefined>;
}

/** Reasons are those of conditions: CamelCase, few, stable. */
export interface ServiceState {
  /**
   *   Waiting      for something that is not here: a kubeconfig, the cluster itself
   *   Starting     on its way
   *   Ready        at work
   *   BackingOff   it ended or could not begin, and is tried again later
   *   Failed       only a change from outside helps
   *   Stopping     nothing new begins
   */
  readonly phase: 'Waiting' | 'Starting' | 'Ready' | 'BackingOff' | 'Failed' | 'Stopping';
  readonly reason: string;
  /** For people; one line, nothing secret in it. */
  readonly message: string;
  /** How often it was started again, for whatever reason. */
  readonly restarts: number;
  /** Of the last failure, also when it is over; one line. */
  readonly lastError?: string | undefined;
  readonly process?: ServiceProcess | undefined;
}

/** What there is of it in the operating system. */
export interface ServiceProcess {
  readonly pid: number;
  /** On the loopback interface: health and metrics, over TLS, to whoever asks. */
  readonly port: number;
  readonly startedAt: Date;
}

/** One service of one cluster that is this process's. */
export interface Assignment {
  readonly cluster: FleetCluster;
  readonly service: Service;
  /** Nothing may be done in the cluster without it; see `Ownership.remainingMs`. */
  readonly ownership: Ownership;
  /** Whenever it is another. Cheap; never throws. */
  readonly report: (state: ServiceState) => void;
}

export interface Serving {
  /** The cluster is another now: same name, same source object. */
  update(cluster: FleetCluster): void;
  /** Nothing new begins; resolves when nothing of it is left, neither processes nor files. Never rejects. Idempotent. */
  stop(): Promise<void>;
}

export interface Engine {
  readonly name: 'kube' | 'essential';
  /** Returns at once and never throws: what is wrong is reported. */
  serve(assignment: Assignment): Serving;
}

/** A cluster in the registry's table. */
export interface ClusterRow {
  readonly cluster: FleetCluster;
  /** False: another replica has it, or nobody. */
  readonly isOwned: boolean;
  readonly engines: ReadonlyMap<Service, Engine['name']>;
  /** Of those services that are this process's. */
  readonly states: ReadonlyMap<Service, ServiceState>;
}
