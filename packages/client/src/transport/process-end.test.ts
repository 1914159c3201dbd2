import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { http1Server, http2Server } from './testing/servers.ts';

const execute = promisify(execFile);

/** A program that sends one request and closes nothing. */
async function asking(server: string, ca = ''): Promise<string> {
  const index = new URL('../index.ts', import.meta.url).href;
  const program = `
    import { httpTransport, RestClient } from ${JSON.stringify(index)};
    const client = new RestClient(httpTransport(${JSON.stringify({ server, ca })}, { environment: {} }));
    const answer = await client.raw({ method: 'GET', target: '/' }).then(
      async (found) => (await found.body()).toString(),
      (error) => error.code,
    );
    console.log(answer);`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', program], { timeout: 60_000 });
  return stdout.trim();
}

test('a connection that is kept for later keeps no process from ending', async (context) => {
  const two = await http2Server(context, (stream) => {
    stream.respond({ ':status': 200 });
    // Later than any point at which the process might exit.
    setTimeout(() => stream.end('two'), 100);
  });
  const one = await http1Server(context, (_request, response) => void setTimeout(() => response.end('one'), 100));
  assert.equal(await asking(two.config.server, two.config.ca), 'two');
  assert.equal(await asking(one.config.server, one.config.ca), 'one');
});

test('a process does not end while a request waits to be sent again', async () => {
  assert.equal(await asking('http://127.0.0.1:1'), 'ConnectionFailed');
});
