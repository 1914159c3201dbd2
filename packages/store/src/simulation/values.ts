/** Values name their writer: the number of the transaction and the index of the put in it. */

export interface Signature {
  readonly commit: number;
  readonly place: number;
}

export function signedValue(signature: Signature, paddingBytes: number): Uint8Array {
  const filler = String.fromCharCode(97 + (signature.commit % 26));
  return Buffer.from(`${signature.commit}.${signature.place}|${filler.repeat(paddingBytes)}`);
}

/** Undefined for bytes that no client of the simulation wrote. */
export function signatureOf(value: Uint8Array): Signature | undefined {
  const text = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, 24)).toString();
  const match = /^(\d+)\.(\d+)\|/.exec(text);
  return match ? { commit: Number(match[1]), place: Number(match[2]) } : undefined;
}
