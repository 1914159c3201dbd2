/** A thread of the index: opens the database as writer or reader, then answers one request after the other. */

import { parentPort, workerData } from 'node:worker_threads';
import { asError } from '@hangar/core';
import type { ReaderRequest, WriterRequest } from './contract.ts';
import { IndexReader } from './reader.ts';
import { IndexWriter } from './writer.ts';

/** Role of a thread. */
export interface ThreadData {
  readonly role: 'writer' | 'reader';
  readonly compileCache?: string | undefined;
}

export interface ThreadRequest {
  readonly id: number;
  readonly request: WriterRequest | ReaderRequest;
}

export type ThreadReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

const port = parentPort!;
const { role } = workerData as ThreadData;
let writer: IndexWriter | undefined;
let reader: IndexReader | undefined;

const handleWrite = (request: WriterRequest): unknown => {
  switch (request.type) {
    case 'open':
      writer = new IndexWriter(request.file);
      return writer.opened();
    case 'apply':
      return writer!.apply(request.changes);
    case 'ready':
      return writer!.ready();
    case 'close':
      return writer?.close();
  }
};

const handleRead = (request: ReaderRequest): unknown => {
  switch (request.type) {
    case 'open':
      reader = new IndexReader(request.file);
      return undefined;
    case 'scan':
      return reader!.scan(request.scan);
    case 'close':
      return reader?.close();
  }
};

port.on('message', ({ id, request }: ThreadRequest) => {
  let reply: ThreadReply;
  try {
    reply = {
      id,
      value: role === 'writer' ? handleWrite(request as WriterRequest) : handleRead(request as ReaderRequest),
    };
  } catch (error) {
    reply = { id, error: asError(error).message };
  }
  port.postMessage(reply);
  if (request.type === 'close') port.close();
});
