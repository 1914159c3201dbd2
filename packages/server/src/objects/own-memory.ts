/**
 * Bytes that stay for long, in memory of their own. Node cuts small buffers from large pieces, and so do messages from a
 * store: a few bytes that are kept would keep all of the piece, a hundred times what they count for.
 */

const slackBytes = 1_024;

/** The same bytes, copied when they are a small part of something larger. */
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
