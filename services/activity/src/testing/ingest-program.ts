/** A program for tests that are killed: takes batches on a loopback port, and prints its port when it is ready. */

import { createServer } from 'node:http';
import { ThreadedBackend } from '../backend/threads.ts';
import { defaultPolicies } from '../policy/defaults.ts';
import { defaultRetentionMs } from '../service.ts';

const [, , database = ''] = process.argv;
const backend = await ThreadedBackend.open({
  address: database,
  policies: defaultPolicies,
  retentionMs: defaultRetentionMs,
  onError: (error) => console.error(error),
});
const server = createServer((request, response) => {
  void Array.fromAsync(request as AsyncIterable<Buffer>)
    .then((chunks) => backend.ingest(Buffer.concat(chunks), { plane: undefined }))
    .then(
      () => response.writeHead(200).end(),
      (error: Error) => response.writeHead(500).end(error.message),
    );
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
