/**
 * Recognizes the answer of an API server whose etcd is fenced: a migration has stopped all writes there, and nothing was written. The request
 * is repeated when the migration has ended its hold.
 */

import { isStreaming } from '../../http/message.ts';
import type { Answer } from '../../http/message.ts';

/** Bytes of an error message that are read. */
const messageBytesMax = 16 * 1024;
/**
 * The message of the Status in JSON, protobuf, YAML and CBOR: the whole message, because webhooks and aggregated servers of the tenant
 * write into longer ones.
 */
const fencedMessage = 'etcdserver: permission denied';
const fencedMessages = [
  `"message":"${fencedMessage}"`,
  `"message": "${fencedMessage}"`,
  `\x1a${String.fromCharCode(fencedMessage.length)}${fencedMessage}`,
  `\nmessage: '${fencedMessage}'\n`,
  `gmessage\x78${String.fromCharCode(fencedMessage.length)}${fencedMessage}`,
];

const refused = new WeakSet<Answer>();

/** Reports whether a fence refused the request. */
export const isRefusedByFence = (answer: Answer): boolean => refused.has(answer);

/** Reads the body of an internal error, and returns the same answer otherwise. */
export async function withFenceNoticed(answer: Answer): Promise<Answer> {
  const length = Number(answer.headers['content-length']);
  if (answer.status !== 500 || !isStreaming(answer.body) || !(length <= messageBytesMax)) return answer;
  const { body } = answer;
  const chunks: Uint8Array[] = [];
  const isWhole = await new Promise<boolean>((resolve) => {
    body.start({
      write: (chunk) => (chunks.push(Buffer.from(chunk)), true),
      end: () => resolve(true),
      abort: () => resolve(false),
      onDrain: () => {},
      onClose: () => {},
    });
  });
  const bytes = Buffer.concat(chunks);
  const read: Answer = { ...answer, body: bytes };
  if (isWhole && fencedMessages.some((message) => bytes.includes(message, 0, 'latin1'))) refused.add(read);
  return read;
}
