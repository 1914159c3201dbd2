/**
 * Copies long-lived bytes into separate memory. Node and store messages cut small buffers from large ones, so keeping a few bytes would
 * keep the whole large buffer, a hundred times what they account for.
 */

const slackBytes = 1_024;

/** Returns the bytes, copied if they are a small part of a larger buffer. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer.byteLength <= 2 * bytes.length + slackBytes) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

export function ownText(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
