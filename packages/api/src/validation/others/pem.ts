/** PEM: blocks of base64 between lines that name them. Other text is skipped. */

export interface PemBlock {
  readonly type: string;
  readonly headers: readonly string[];
  readonly bytes: Uint8Array;
}

const begin = '-----BEGIN ';
const end = '\n-----END ';
const dashes = '-----';

/** One pass: texts come from clients, and may begin many blocks that never end. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let endAt = text.indexOf(end);
  for (let at = text.indexOf(begin); at >= 0 && endAt >= 0; at = text.indexOf(begin, at + 1)) {
    const lineEnd = text.indexOf('\n', at);
    if (lineEnd < 0) break;
    const line = text.slice(at, lineEnd).trimEnd();
    const isLineStart = at === 0 || text[at - 1] === '\n';
    if (!isLineStart || !line.endsWith(dashes) || line.length < begin.length + dashes.length) continue;
    if (endAt < lineEnd) endAt = text.indexOf(end, lineEnd);
    const type = line.slice(begin.length, -dashes.length);
    if (endAt < 0) break;
    const isClosed = text.startsWith(`${type}${dashes}`, endAt + end.length);
    const block = isClosed ? blockOf(type, text.slice(lineEnd + 1, endAt)) : undefined;
    if (block) blocks.push(block);
    // Text in between is part of this block, even if the block is invalid.
    at = endAt;
  }
  return blocks;
}

function blockOf(type: string, body: string): PemBlock | undefined {
  const lines = body.split('\n').map((line) => line.trim());
  const headers = lines.filter((line) => line.includes(':'));
  const data = lines.filter((line) => !line.includes(':')).join('');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(data) || data.length % 4 !== 0) return undefined;
  return { type, headers, bytes: Buffer.from(data, 'base64') };
}
