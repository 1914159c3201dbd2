/** Bytes as lines, whatever the pieces they come in. */

const newline = 10;

export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      const line = bytes.subarray(from, at);
      from = at + 1;
      if (rest.length === 0) yield line.toString();
      else yield Buffer.concat([...rest.splice(0), line]).toString();
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  const last = Buffer.concat(rest).toString();
  if (last.trim() !== '') yield last;
}
