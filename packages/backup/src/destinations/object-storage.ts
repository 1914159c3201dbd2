/** Storage of objects with keys: the few calls that a destination needs. Drivers: `folder/` and `s3/`. Errors are `BackupError`s. */

export interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Milliseconds since 1970, by the clock of the storage. */
  readonly modifiedMs: number;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface UploadOptions extends CallOptions {
  /** Bytes that the storage has received so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

export interface ObjectStorage {
  /** Names the storage in messages. */
  readonly description: string;
  /** Lists keys that start with the prefix and have no slash after it. Incomplete objects are not listed. */
  list(prefix: string, options?: CallOptions): AsyncIterable<StoredObject>;
  /** Returns undefined if the object does not exist. */
  head(key: string, options?: CallOptions): Promise<{ readonly sizeBytes: number } | undefined>;
  /** Streams an object. The stream throws `NotFound` if it does not exist, and resumes after a lost connection. */
  read(key: string, options?: CallOptions): AsyncGenerator<Uint8Array, void, void>;
  /** Writes a small object at once, durably. With `isNew`, throws `AlreadyExists` if the key exists. */
  write(key: string, content: Uint8Array, options: CallOptions & { readonly isNew: boolean }): Promise<void>;
  /**
   * Writes an object of any length with bounded memory. It exists completely or not at all. `isVerified`: the storage compared checksums of
   * all bytes with those of the sender.
   */
  upload(
    key: string,
    content: AsyncIterable<Uint8Array>,
    options?: UploadOptions,
  ): Promise<{ readonly isVerified: boolean }>;
  /** Does nothing if the object does not exist. */
  remove(key: string, options?: CallOptions): Promise<void>;
  /** Removes uploads below the prefix that started before this time and were never completed. Returns their number. */
  removeIncomplete(prefix: string, beforeMs: number, options?: CallOptions): Promise<number>;
}
