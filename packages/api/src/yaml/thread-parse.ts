/** A thread that parses YAML: one message in, one out. Values come back as JSON text, which the main thread parses quickly. */

import { parentPort } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import { readDocument } from './document.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

parentPort!.on('message', ({ text, findRepeated }: ThreadRequest) =>
  parentPort!.postMessage(reply(text, findRepeated)),
);

function reply(text: string, findRepeated: boolean): ThreadReply {
  try {
    const { value, problems } = readDocument(text, findRepeated);
    return { json: JSON.stringify(value), problems };
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, message: error.message };
    return { code: 'MalformedYaml', message: 'yaml: the document cannot be parsed' };
  }
}
