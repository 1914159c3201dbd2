/** What a table is made of: the printer of a kind, and the Table of meta.k8s.io that is made with it. */

import type { KubeObject, ObjectMeta } from '../object.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** Shown by no `kubectl get`; ours is empty for built-in kinds. */
  readonly description: string;
  readonly priority: number;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** How objects of one kind become rows. Stateless: one printer serves every request. */
export interface TablePrinter {
  readonly columns: readonly ColumnDefinition[];
  /** One per column, as JSON. `now` is in milliseconds since 1970: ages are counted to it. */
  cells(object: KubeObject, now: number): unknown[];
  /** What the row says about its object besides cells: a pod that ran to its end is `Completed`. */
  conditions?(object: KubeObject): readonly RowCondition[] | undefined;
  /** The order of rows, where it is not that of the list. */
  compare?(left: KubeObject, right: KubeObject): number;
  /** kube-apiserver's default printer writes no rows as null. */
  readonly writesNoRowsAsNull?: boolean;
  /** In every event of a watch, and not only in the first: one kind does that. */
  readonly repeatsColumns?: boolean;
}

export interface PartialObjectMetadata {
  readonly kind: 'PartialObjectMetadata';
  readonly apiVersion: MetaApiVersion;
  readonly metadata: ObjectMeta;
}

export interface PartialObjectMetadataList {
  readonly kind: 'PartialObjectMetadataList';
  readonly apiVersion: MetaApiVersion;
  readonly metadata: ListMeta;
  readonly items: readonly PartialObjectMetadata[];
}

/** Old clients ask for v1beta1, which has the same fields. */
export type MetaApiVersion = 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1';

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly conditions?: readonly RowCondition[];
  readonly object: KubeObject | PartialObjectMetadata | null;
}

export interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: MetaApiVersion;
  readonly metadata: ListMeta;
  /** Null in the later events of a watch. */
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  readonly rows: readonly TableRow[] | null;
}
