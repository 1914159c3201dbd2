/** Formats compact JSON with lines and indents, as `JSON.stringify(value, undefined, 2)` does, without parsing it. */

const pieceBytes = 64 * 1024;
const quote = 0x22;
const backslash = 0x5c;

/**
 * Yields pieces of about 64 KB. The bytes must be JSON without space between its tokens. Stops early, and returns false, if the result
 * would be longer than `bytesMax`: an object nested a thousand deep is a hundred times as long.
 */
export function* indentedPieces(bytes: Buffer, bytesMax: number): Generator<Buffer, boolean, void> {
  let out = Buffer.allocUnsafe(2 * pieceBytes);
  let at = 0;
  let written = 0;
  let depth = 0;
  for (let i = 0; i < bytes.length;) {
    if (at >= pieceBytes) {
      written += at;
      if (written > bytesMax) return false;
      yield out.subarray(0, at);
      out = Buffer.allocUnsafe(2 * pieceBytes);
      at = 0;
    }
    const byte = bytes[i]!;
    if (byte === quote) {
      const end = endOfString(bytes, i);
      // A string that does not fit becomes a separate piece.
      if (end - i <= out.length - at) at += bytes.copy(out, at, i, end);
      else {
        written += at + end - i;
        if (written > bytesMax) return false;
        yield out.subarray(0, at);
        yield bytes.subarray(i, end);
        out = Buffer.allocUnsafe(2 * pieceBytes);
        at = 0;
      }
      i = end;
      continue;
    }
    i++;
    const isClosing = byte === 0x7d || byte === 0x5d;
    if (isClosing) {
      depth--;
      // Empty brackets stay on one line.
      if (bytes[i - 2] !== byte - 2) at = newLine(out, at, depth);
    }
    out[at++] = byte;
    if (byte === 0x3a) out[at++] = 0x20;
    else if (byte === 0x2c) at = newLine(out, at, depth);
    else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (bytes[i] !== byte + 2) at = newLine(out, at, depth);
    }
  }
  written += at;
  if (written > bytesMax) return false;
  yield out.subarray(0, at);
  return true;
}

function newLine(out: Buffer, at: number, depth: number): number {
  out[at++] = 0x0a;
  out.fill(0x20, at, at + 2 * depth);
  return at + 2 * depth;
}

/** Returns the position after the closing quote. */
function endOfString(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(quote, start + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (bytes[at - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return bytes.length;
}
