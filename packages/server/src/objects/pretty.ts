/** Indents JSON for humans: `?pretty=true`, curl, wget and browsers. */

import { Slicer } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { Answer, ServerRequest } from '../http/message.ts';
import { isStreaming } from '../http/message.ts';
import { indentedPieces } from './indented.ts';

const peoplesPrograms = /^(?:curl|Wget|Mozilla\/5\.0)/;
const yes = /^(?:1|t|T|TRUE|true|True)$/;

/** A longer response is indented in slices, and must be JSON without spaces, as objects and lists are. */
const parsedBytesMax = 64 * 1024;
/** A response that would be longer is not indented. */
const prettyBytesMax = 64 * 1024 * 1024;

export function forPeople(answer: Answer, request: ServerRequest, clock: Clock): Answer | Promise<Answer> {
  const { body, headers } = answer;
  if (headers['content-type'] !== 'application/json' || isStreaming(body)) return answer;
  // 406 responses are always indented.
  if (answer.status !== 406 && !isPretty(request)) return answer;
  const bytes = Array.isArray(body) ? Buffer.concat(body as Uint8Array[]) : asBuffer(body as Uint8Array);
  if (bytes.length === 0) return answer;
  if (bytes.length > parsedBytesMax) return indented(answer, bytes, clock);
  return { ...answer, body: Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), undefined, 2)) };
}

async function indented(answer: Answer, bytes: Buffer, clock: Clock): Promise<Answer> {
  const slicer = new Slicer(clock);
  const pieces: Buffer[] = [];
  // JSON.stringify writes no trailing newline.
  const pretty = indentedPieces(bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes, prettyBytesMax);
  for (;;) {
    const { done, value } = pretty.next();
    if (done) return value ? { ...answer, body: pieces } : answer;
    pieces.push(value);
    const paused = slicer.pause();
    if (paused) await paused;
  }
}

const newline = 0x0a;
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function isPretty(request: ServerRequest): boolean {
  const asked = /[?&]pretty=([^&]+)/.exec(request.target)?.[1];
  return asked === undefined ? peoplesPrograms.test(request.header('user-agent') ?? '') : yes.test(asked);
}
