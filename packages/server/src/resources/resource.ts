/**
 * A served resource: one group, version and plural name, with all that the verbs need to know of it. Built-in kinds and
 * custom resources both become this, so that each verb is written once.
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
  /** In the plural, as in paths. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Below the control plane's prefix: `configmaps`, `services/specs`, `example.com/widgets`. */
  readonly storagePrefix: string;
  readonly stored: StoredForm;
  /** Finalizers without a domain must be Kubernetes' own. */
  readonly hasStandardFinalizers?: boolean;
  readonly strategy: Strategy;
  readonly deletion: DeletionRules;
  /** Of built-in kinds. */
  readonly struct: StructType | undefined;
  readonly mergeType: MergeType;
  readonly table: TablePrinter;
  /** Completes a checked object with what depends on other objects of the control plane. */
  complete?(plane: ControlPlane, object: KubeObject): void;
  /** What an acknowledged write promises beyond itself; awaited before the answer. */
  settled?(plane: ControlPlane, revision: Revision): Promise<void>;
  /** Who creates an object is a part of it, such as of a request for a certificate. */
  recordCreator?(object: KubeObject, creator: User): void;
  /** What its objects have besides themselves. */
  readonly allocation?: Allocation | undefined;
  /** The scale subresource, where there is one. */
  readonly scale: ScaleAccess | undefined;
  /**
   * A parsed body becomes an object of this resource: types are checked (`error`), what the schema does not know is
   * dropped and reported (`problems`).
   */
  read(value: JsonObject, repeated: RepeatedKeys | undefined): { object: KubeObject } & FieldReport;
  /** An object of this version in another one of the same kind; may change the given one. Absent: there is one version. */
  convert?(plane: ControlPlane, object: KubeObject, apiVersion: string): KubeObject | Promise<KubeObject>;
  /** A stored value as it will be read; absent: as it is. Where reading is a conversion that may fail or lose something. */
  roundTrip?(value: Buffer): Promise<Buffer>;
  /** Throws 400 for fields that cannot be selected. */
  fieldSelector(text: string): FieldSelector;
  /** Its definition is being deleted: nothing new is created. */
  readonly isTerminating?: boolean;
  /** For every answer, when this version is going away. */
  readonly deprecationWarning?: string | undefined;
  /** Objects go away by themselves after this time; undefined: never. */
  readonly timeToLiveMs: number | undefined;
  /** Where its objects are, when they are not with those of the others. */
  readonly plane?: ControlPlane | undefined;
  /** What answers its verbs, of resources that store nothing. */
  readonly handlers?: Readonly<Partial<Record<Verb, (call: Call) => Promise<Answer>>>> | undefined;
  /** What answers its subresources, by their names, where they are operations of this resource alone. */
  readonly operations?: Readonly<Record<string, NonNullable<Resource['handlers']>>>;
}

export interface ScaleAccess {
  /** Where the number is: `['spec', 'replicas']`. */
  readonly replicasPath: readonly string[];
  scaleOf(object: KubeObject): KubeObject;
  /** What a change begins with, also where the number is not set yet; absent: the same. */
  scaleBeforeUpdate?(object: KubeObject): KubeObject;
  /** Changes the object. */
  applyScale(object: KubeObject, scale: KubeObject): void;
}

export interface DeletionRules {
  /** The answer is the deleted object instead of a Status. */
  readonly returnsObject: boolean;
  /** What happens to dependents when nobody says. */
  readonly dependents: DependentsPolicy;
  /** Seconds of grace for a deletion, or undefined when there is none for this object. */
  graceSeconds(object: KubeObject, requested: number | undefined): number | undefined;
  /** Changes an object whose deletion begins, before it is decided whether it can go. Throws to refuse the deletion, also in a dry run. */
  onDelete?(object: KubeObject, now: string): void;
  /** Told when nobody says what becomes of dependents, and it may not be what they think. */
  readonly warning?: string;
  /** Changes an object that stays for now, such as a namespace that becomes Terminating. */
  onMark?(object: KubeObject): void;
  /** More than finalizers keeps it: namespaces have `spec.finalizers`. */
  isHeld(object: KubeObject): boolean;
}

/** The subresources that every verb's path may name, by name. */
export const subresourceOf = (resource: Resource, name: string): Subresource | undefined =>
  resource.subresources.find((one) => one.name === name);

/** As refusals name it. Events are of the core group, whichever group they are reached by. */
export const refusedKind = ({ group, kind }: Resource): { group: string; kind: string } => ({
  group: group === 'events.k8s.io' ? '' : group,
  kind,
});
