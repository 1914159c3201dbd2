/** The contract of tables: the printer of a kind, and the Table of meta.k8s.io. */

import type { KubeObject, ObjectMeta } from '../object.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  /** Not shown by `kubectl get`; empty for built-in kinds. */
  readonly description: string;
  readonly priority: number;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Converts objects of one kind to rows. Stateless: one printer serves every request. */
export interface TablePrinter {
  readonly columns: readonly ColumnDefinition[];
  /** Returns one value per column, as JSON. `now` is in milliseconds since 1970, for ages. */
  cells(object: KubeObject, now: number): unknown[];
  /** Conditions of the row: a terminated pod is `Completed`. */
  conditions?(object: KubeObject): readonly RowCondition[] | undefined;
  /** The order of rows, if it is not that of the list. */
  compare?(left: KubeObject, right: KubeObject): number;
  /** kube-apiserver's default printer writes no rows as null. */
  readonly writesNoRowsAsNull?: boolean;
  /** Columns are in every event of a watch, not only in the first: one kind does that. */
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

/** Old clients request v1beta1, which has the same fields. */
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
