/** JSON with lines and indents, for those who look at it: `?pretty=true`, curl, wget and browsers. */

import type { Answer, ServerRequest } from '../http/message.ts';
import { isStreaming } from '../http/message.ts';

const peoplesPrograms = /^(?:curl|Wget|Mozilla\/5\.0)/;
const yes = /^(?:1|t|T|TRUE|true|True)$/;

export function forPeople(answer: Answer, request: ServerRequest): Answer {
  const { body, headers } = answer;
  if (headers['content-type'] !== 'application/json' || isStreaming(body)) return answer;
  // Refusals of the format are indented for everybody.
  if (answer.status !== 406 && !isPretty(request)) return answer;
  const bytes = Array.isArray(body) ? Buffer.concat(body as Uint8Array[]) : Buffer.from(body as Uint8Array);
  if (bytes.length === 0) return answer;
  return { ...answer, body: Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), undefined, 2)) };
}

function isPretty(request: ServerRequest): boolean {
  const asked = /[?&]pretty=([^&]+)/.exec(request.target)?.[1];
  return asked === undefined ? peoplesPrograms.test(request.header('user-agent') ?? '') : yes.test(asked);
}
