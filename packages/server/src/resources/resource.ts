/**
 * A served resource: one group, version and plural name, with everything that the verbs need. Built-in kinds and custom resources both
 * become this, so that each verb is written once.
 */

import type { FieldReport, KubeObject, MergeType, Strategy, StructType, Subresource, TablePrinter } from '@hangar/api';
import type { DependentsPolicy, FieldSelector, JsonObject, RepeatedKeys } from '@hangar/api';
import type { Revision } from '@hangar/store';
import type { Allocation } from '../allocation/allocation.ts';
import type { User } from '../auth/user.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import type { StoredForm } from '../objects/stored.ts';
import type { Verb } from '../request/info.ts';
import type { Call } from '../verbs/call.ts';

export interface Resource {
  readonly group: string;
  readonly version: string;
  /** `group/version`, or `v1`. */
  readonly apiVersion: string;
  /** Plural name, as in paths. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Key prefix below the control plane's prefix: `configmaps`, `services/specs`, `example.com/widgets`. */
  readonly storagePrefix: string;
  readonly stored: StoredForm;
  /** Finalizers without a domain must be those of Kubernetes. */
  readonly hasStandardFinalizers?: boolean;
  readonly strategy: Strategy;
  readonly deletion: DeletionRules;
  /** Set for built-in kinds. */
  readonly struct: StructType | undefined;
  readonly mergeType: MergeType;
  readonly table: TablePrinter;
  /** Sets fields of a validated object that depend on other objects of the control plane. */
  complete?(plane: ControlPlane, object: KubeObject): void;
  /** Waits for the side effects that an acknowledged write promises; awaited before the response. */
  settled?(plane: ControlPlane, revision: Revision): Promise<void>;
  /** Stores the creator in the object, as for certificate signing requests. */
  recordCreator?(object: KubeObject, creator: User): void;
  /** Allocations of its objects, such as addresses and ports. */
  readonly allocation?: Allocation | undefined;
  /** The scale subresource, if any. */
  readonly scale: ScaleAccess | undefined;
  /**
   * Converts a parsed body to an object of this resource: types are checked (`error`), unknown fields are dropped and reported
   * (`problems`).
   */
  read(value: JsonObject, repeated: RepeatedKeys | undefined): { object: KubeObject } & FieldReport;
  /** Converts an object to another version of the same kind; may change the given one. Absent: there is one version. */
  convert?(plane: ControlPlane, object: KubeObject, apiVersion: string): KubeObject | Promise<KubeObject>;
  /** Returns a stored value as it will be read; absent: unchanged. For resources whose reads convert, which may fail or lose fields. */
  roundTrip?(value: Buffer): Promise<Buffer>;
  /** Throws 400 for fields that do not support selectors. */
  fieldSelector(text: string): FieldSelector;
  /** Its definition is being deleted: no objects may be created. */
  readonly isTerminating?: boolean;
  /** Added to every response if this version is deprecated. */
  readonly deprecationWarning?: string | undefined;
  /** Time after which objects expire; undefined: never. */
  readonly timeToLiveMs: number | undefined;
  /** The plane that holds its objects, if it is a different one. */
  readonly plane?: ControlPlane | undefined;
  /** Handlers of its verbs, for resources that store nothing. */
  readonly handlers?: Readonly<Partial<Record<Verb, (call: Call) => Promise<Answer>>>> | undefined;
  /** Handlers of its subresources by name, for operations specific to this resource. */
  readonly operations?: Readonly<Record<string, NonNullable<Resource['handlers']>>>;
}

export interface ScaleAccess {
  /** Path of the number: `['spec', 'replicas']`. */
  readonly replicasPath: readonly string[];
  scaleOf(object: KubeObject): KubeObject;
  /** Returns the scale before an update, also if the number is not set yet; absent: the same. */
  scaleBeforeUpdate?(object: KubeObject): KubeObject;
  /** Changes the object. */
  applyScale(object: KubeObject, scale: KubeObject): void;
}

export interface DeletionRules {
  /** The response is the deleted object instead of a Status. */
  readonly returnsObject: boolean;
  /** Default policy for dependents. */
  readonly dependents: DependentsPolicy;
  /** Returns the grace period of a deletion in seconds; undefined if this object has none. */
  graceSeconds(object: KubeObject, requested: number | undefined): number | undefined;
  /**
   * Changes an object whose deletion starts, before it is decided whether it can be removed. Throws to refuse the deletion, also in a dry
   * run.
   */
  onDelete?(object: KubeObject, now: string): void;
  /** Warning for deletions without a policy for dependents, if the default may surprise the client. */
  readonly warning?: string;
  /** Changes an object that is not removed yet, such as a namespace that becomes Terminating. */
  onMark?(object: KubeObject): void;
  /** Reports whether more than finalizers keeps the object: namespaces have `spec.finalizers`. */
  isHeld(object: KubeObject): boolean;
}

/** Returns a subresource that every verb supports, by name. */
export const subresourceOf = (resource: Resource, name: string): Subresource | undefined =>
  resource.subresources.find((one) => one.name === name);

/** Returns the kind for refusals. Events belong to the core group, regardless of the group in the path. */
export const refusedKind = ({ group, kind }: Resource): { group: string; kind: string } => ({
  group: group === 'events.k8s.io' ? '' : group,
  kind,
});
