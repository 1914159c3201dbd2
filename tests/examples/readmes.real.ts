/** Pastes the commands in the READMEs of the examples, and compares the output. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { tool } from '../../tools/tool.ts';
import { startHangar } from '../conformance/servers/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { normalised, readDocument, root } from './testing/documents.ts';
import { Shell } from './testing/shell.ts';

describe('the README of', { concurrency: 3 }, () => {
  for (const example of ['website-operator', 'fleet-quotas', 'image-policy']) {
    test(example, async () => {
      await using opened = new AsyncDisposableStack();
      const [server, ...blocks] = readDocument(`examples/${example}/README.md`);
      const [, flags = ''] = /^npm start(?: -- (.*))?\n$/.exec(server!.text)!;
      const plane = opened.use(await startHangar(['--store=memory', ...flags.split(' ').filter(Boolean)]));
      const folder = await mkdtemp(join(tmpdir(), 'hangar-readme-'));
      opened.defer(() => rm(folder, { recursive: true, force: true }));
      await symlink(await tool('kubectl'), join(folder, 'kubectl'));
      const ports = await freePorts(3);
      const here = (text: string): string =>
        text
          .replaceAll('/tmp/', `${folder}/`)
          .replaceAll('8080', String(ports[0]))
          .replaceAll('8081', String(ports[1]))
          .replaceAll(/(\$PWD\/)?\.data\/admin\.kubeconfig/g, plane.kubeconfig);
      const shell = opened.use(
        new Shell({
          cwd: root,
          env: {
            PATH: `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`,
            HOME: folder,
            PORT: String(ports[0]),
            URL: `https://127.0.0.1:${ports[2]}`,
          },
        }),
      );
      for (const [at, { language, text, line }] of blocks.entries()) {
        if (language !== 'sh') continue;
        const printed = await shell.paste(here(text));
        const expected = blocks[at + 1];
        if (expected?.language !== '') continue;
        assert.equal(normalised(printed), normalised(expected.text), `README.md:${line}`);
      }
    });
  }
});
