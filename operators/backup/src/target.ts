/**
 * The contract between the controllers of this package and a kind of control planes. Each kind that can be backed up implements it once;
 * the controllers know destinations, schedules and retention, and nothing of the kind.
 *
 *     const targets = new Map([['ControlPlane', virtualTarget], ['HostedControlPlane', hostedTarget]]);
 *
 * All streams are read once and with bounded memory. All calls can be repeated after an interruption: the controllers call them again
 * with the same arguments after a restart of the operator.
 */

import type { ControlPlaneKind } from './api/index.ts';

/** A control plane. `namespace` is absent for kinds that are cluster-scoped. */
export interface TargetName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface TargetCall {
  readonly signal: AbortSignal;
}

/** The content of a control plane at one revision. */
export interface Exported {
  /** Format of the stream, as in the manifest of the container. */
  readonly payload: string;
  /** `Virtual` or `Dedicated`. */
  readonly mode: string;
  /** Versions of the programs that made the stream, by name. */
  readonly versions: Readonly<Record<string, string>>;
  readonly hasKeys: boolean;
  readonly content: AsyncGenerator<Uint8Array, void, void>;
  /** Resolves after the stream finished. */
  summary(): Promise<ContentSummary>;
}

/** Equal content has an equal summary, on any control plane. */
export interface ContentSummary {
  /** Number of objects. */
  readonly objects: number;
  /** SHA-256 over all objects in the order of their keys, hexadecimal. Revisions are not part of it. */
  readonly contentDigest: string;
  /** Revision of the content. */
  readonly revision: string;
}

/** A verified backup that is about to be restored. */
export interface Restorable {
  readonly payload: string;
  readonly hasKeys: boolean;
  readonly content: AsyncGenerator<Uint8Array, void, void>;
}

export interface RestoreOptions extends TargetCall {
  /** Identifies the ControlPlaneRestore, so that a repeated call continues it. */
  readonly uid: string;
  /** Labels of a new control plane. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** ControlPlaneClass of a new control plane. */
  readonly className?: string | undefined;
  /** Opens the backup from its start. Called again after an interruption. */
  open(): Promise<Restorable>;
}

/** `Pending`: call again after `retryAfterMs`, or when an object of the control plane changed. */
export type RestoreProgress =
  | { readonly state: 'Pending'; readonly message: string; readonly retryAfterMs: number }
  | { readonly state: 'Complete'; readonly summary: ContentSummary };

/**
 * Errors are `TargetError`s: `NotFound`, `AlreadyExists`, `NotReady` (try again later), `Refused` (never succeeds with these arguments).
 * Other errors are retried.
 */
export interface BackupTarget {
  readonly kind: ControlPlaneKind;
  /** Whether objects of this kind have a namespace. */
  readonly isNamespaced: boolean;
  /** Returns the names of the control planes that match. */
  list(
    selector: Readonly<Record<string, string>>,
    call: TargetCall & { readonly namespace?: string },
  ): Promise<readonly TargetName[]>;
  /** Opens an export. Throws `NotFound` or `NotReady`. */
  export(name: TargetName, options: TargetCall & { readonly includesKeys: boolean }): Promise<Exported>;
  /** Reads the content of a control plane to compare it with a backup. */
  summarize(name: TargetName, call: TargetCall): Promise<ContentSummary>;
  /** Creates a control plane. Throws `AlreadyExists` if there is one that another restore created. */
  create(name: TargetName, options: RestoreOptions): Promise<RestoreProgress>;
  /**
   * Replaces all data of a control plane. Revisions of the new content are higher than any that a client has seen, and watches of clients
   * end, so that informers list again. Either all data is replaced or the old data stays.
   */
  replace(name: TargetName, options: RestoreOptions): Promise<RestoreProgress>;
  /** Deletes a control plane that a drill created, including all data. Does nothing if it does not exist. */
  delete(name: TargetName, call: TargetCall): Promise<void>;
}
