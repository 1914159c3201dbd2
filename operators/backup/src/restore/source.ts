/** The backup of a restore: from a ControlPlaneBackup or a stored backup to bytes that were verified. */

import { readContainer } from '@hangar/backup';
import type { BackupDestination, BackupKey, BackupRecord } from '@hangar/backup';
import type {
  BackupDestination as DestinationSpec,
  ControlPlaneBackup,
  EncryptionKeyReference,
  RestoreSource,
} from '../api/index.ts';
import { contentOf } from '../backup/make-backup.ts';
import type { StoredContent } from '../backup/make-backup.ts';
import { openBackupDestination } from '../destinations/open.ts';
import type { OpenDestination } from '../destinations/open.ts';
import { readEncryptionKey } from '../destinations/secrets.ts';
import { ReferenceFault } from '../errors.ts';
import type { Restorable } from '../target.ts';
import type { BackupWorld } from '../world.ts';

export interface BackupSource {
  readonly namespace: string;
  readonly destination: DestinationSpec;
  readonly encryption: EncryptionKeyReference | undefined;
  readonly storedName: string;
  /** SHA-256 of the stored bytes. Absent: that of the record counts. */
  readonly sha256: string | undefined;
  /** As a ControlPlaneBackup states it. Absent fields come from the record. */
  readonly content: StoredContent;
}

/** Returns the source of a complete ControlPlaneBackup. Throws `BackupNotComplete`. */
export function sourceOfBackup({ metadata, spec, status }: ControlPlaneBackup): BackupSource {
  const { phase = 'Pending', storedName, sha256, objects, contentDigest, hasKeys } = status ?? {};
  if (phase !== 'Complete' || storedName === undefined || metadata.deletionTimestamp !== undefined) {
    const state = metadata.deletionTimestamp === undefined ? phase : 'Deleting';
    throw new ReferenceFault(
      'BackupNotComplete',
      `ControlPlaneBackup ${JSON.stringify(metadata.name)} is ${state}; restore one whose phase is Complete`,
    );
  }
  return {
    namespace: metadata.namespace!,
    destination: spec.destination,
    encryption: spec.encryption,
    storedName,
    sha256,
    content: {
      ...(objects !== undefined && { objects }),
      ...(contentDigest !== undefined && { contentDigest }),
      ...(hasKeys !== undefined && { hasKeys }),
    },
  };
}

/** Returns the source of a stored backup that has no object. */
export const sourceOfStored = (stored: NonNullable<RestoreSource['stored']>, namespace: string): BackupSource => ({
  namespace,
  destination: stored.destination,
  encryption: stored.encryption,
  storedName: stored.name,
  sha256: undefined,
  content: {},
});

/** A backup that can be read several times, each time from its start. */
export interface OpenBackup extends Disposable {
  /** Facts about the content. Fields that are not known are absent. */
  readonly content: StoredContent;
  /** Reads and verifies all bytes. */
  verify(): Promise<void>;
  read(): Promise<Restorable>;
}

/** Throws `ReferenceFault`s and `BackupError`s: `NotFound`, `Corrupted`, and those of the storage. */
export async function openBackup(
  { destinations }: Pick<BackupWorld, 'destinations'>,
  source: BackupSource,
  signal: AbortSignal,
): Promise<OpenBackup> {
  const { namespace, storedName } = source;
  const key = await readEncryptionKey(source.encryption, { reader: destinations.reader, namespace, signal });
  using opening = new DisposableStack();
  const opened: OpenDestination = opening.use(
    await openBackupDestination(destinations, { spec: source.destination, namespace, signal }),
  );
  const backup = new StoredBackupReader(opened.destination, { storedName, key, source, signal });
  const record = await backup.record();
  const closing = opening.move();
  const content = { ...contentOf(record), ...source.content };
  return {
    content,
    verify: () => backup.verify(),
    async read() {
      const { manifest, payload } = await backup.open();
      return { payload: manifest.payload, hasKeys: content.hasKeys ?? false, content: payload };
    },
    [Symbol.dispose]: () => closing.dispose(),
  };
}

interface ReaderOptions {
  readonly storedName: string;
  readonly key: BackupKey | undefined;
  readonly source: BackupSource;
  readonly signal: AbortSignal;
}

class StoredBackupReader {
  readonly #destination: BackupDestination;
  readonly #options: ReaderOptions;

  constructor(destination: BackupDestination, options: ReaderOptions) {
    this.#destination = destination;
    this.#options = options;
  }

  async record(): Promise<BackupRecord> {
    const { storedName, signal } = this.#options;
    const { record, content } = await this.#destination.get(storedName, { signal });
    await content.return();
    this.#check(record);
    return record;
  }

  async open() {
    const { storedName, key, signal } = this.#options;
    const { record, content } = await this.#destination.get(storedName, { signal });
    this.#check(record);
    return readContainer(content, { key });
  }

  async verify(): Promise<void> {
    const { payload } = await this.open();
    for await (const _ of payload);
  }

  #check({ sha256, name }: BackupRecord): void {
    const { source } = this.#options;
    if (source.sha256 === undefined || source.sha256 === sha256) return;
    const problem = 'the stored backup was replaced: its digest is not the one that the ControlPlaneBackup states';
    throw new ReferenceFault('BackupChanged', `${problem} (${name}); restore another backup`);
  }
}
