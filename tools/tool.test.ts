import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tool } from './tool.ts';

test('a failed search has a code and is not remembered, a successful one gives the path', async (context) => {
  const before = process.env['HANGAR_TOOL_STRACE'];
  context.after(() => {
    if (before === undefined) delete process.env['HANGAR_TOOL_STRACE'];
    else process.env['HANGAR_TOOL_STRACE'] = before;
  });
  process.env['HANGAR_TOOL_STRACE'] = '/no/such/file';
  await assert.rejects(tool('strace'), { code: 'ToolUnavailable', message: /HANGAR_TOOL_STRACE is \/no\/such\/file/ });
  process.env['HANGAR_TOOL_STRACE'] = process.execPath;
  assert.equal(await tool('strace'), process.execPath);
});
