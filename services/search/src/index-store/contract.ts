/** Messages between the threads: the main thread sends a request, a thread of the index returns one reply. */

import type { Document, DocumentKey } from '../document/document.ts';

/** Identifies a resource in all control planes: `deployments.apps`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

export const resourceKey = ({ group, resource }: ResourceName): string => `${resource}.${group}`;

/** One change of the index. All changes of a batch are committed together. */
export type Change =
  | { readonly type: 'put'; readonly document: Document }
  | { readonly type: 'delete'; readonly key: DocumentKey }
  /** A list of all objects starts: all objects that follow until `listed` exist. */
  | { readonly type: 'listing'; readonly resource: ResourceName }
  /** The list is complete: other documents of the resource are deleted. */
  | { readonly type: 'listed'; readonly resource: ResourceName }
  /** The index is complete up to this revision; '' forgets the revision. */
  | { readonly type: 'progress'; readonly resource: ResourceName; readonly revision: string }
  /** The resource no longer exists: its documents are deleted. */
  | { readonly type: 'drop'; readonly resource: ResourceName };

/** Position of a scan: all results before it were returned. */
export interface Position {
  readonly tier: number;
  /** Results with a smaller id follow. */
  readonly id: number;
}

export interface ScanRequest {
  readonly tiers: readonly string[];
  readonly prefixes: readonly string[];
  /** Undefined: from the start. */
  readonly after: Position | undefined;
  /** Undefined: all control planes. */
  readonly clusters: readonly string[] | undefined;
  /** Cells whose rows are skipped, except those that a role names. */
  readonly deniedCells: readonly number[];
  readonly rowsMax: number;
  /** Rows that are read, including those that are skipped. */
  readonly visitsMax: number;
  readonly timeMaxMs: number;
}

export interface Cell extends ResourceName {
  readonly id: number;
  readonly cluster: string;
  readonly namespace: string;
}

export interface Row {
  readonly id: number;
  readonly tier: number;
  readonly cell: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly labels: string;
  readonly body: string;
  /** True: a role has a rule for this object by name. */
  readonly isNamed: boolean;
}

export interface ScanReply {
  readonly rows: readonly Row[];
  /** The cells of the rows. */
  readonly cells: readonly Cell[];
  /** Position at which the scan stopped; undefined: it is complete. */
  readonly next: Position | undefined;
  /** Rows that were read. */
  readonly visits: number;
}

export interface OpenedIndex {
  /** Key of cursors, base64. */
  readonly cursorKey: string;
  readonly isReady: boolean;
  readonly documents: number;
  /** Revision of each resource, by `resourceKey`. */
  readonly progress: ReadonlyMap<string, string>;
}

export type WriterRequest =
  | { readonly type: 'open'; readonly file: string }
  | { readonly type: 'apply'; readonly changes: readonly Change[] }
  | { readonly type: 'ready' }
  | { readonly type: 'close' };

export type ReaderRequest =
  | { readonly type: 'open'; readonly file: string }
  | { readonly type: 'scan'; readonly scan: ScanRequest }
  | { readonly type: 'close' };
