/** Mark of a deleted tenant whose data is retained. Written with the deletion, removed when another tenant takes over the data. */

export interface Retained {
  /** RFC 3339, in seconds. */
  readonly since: string;
}

export const encodeRetained = (retained: Retained): Buffer => Buffer.from(JSON.stringify(retained));

export const decodeRetained = (value: Uint8Array): Retained => JSON.parse(Buffer.from(value).toString()) as Retained;
