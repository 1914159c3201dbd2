import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platformOf } from './platform.ts';
import { cacheFolderOf } from './world.ts';

test('the cache folder is the named one, else the one under XDG_CACHE_HOME, else the one under the home', () => {
  assert.equal(cacheFolderOf({ HANGAR_TOOLS_CACHE: '/a', XDG_CACHE_HOME: '/b' }, '/home/c'), '/a');
  assert.equal(cacheFolderOf({ HANGAR_TOOLS_CACHE: '', XDG_CACHE_HOME: '/b' }, '/home/c'), '/b/hangar/tools');
  assert.equal(cacheFolderOf({}, '/home/c'), '/home/c/.cache/hangar/tools');
});

test('the platform is named as Go names it', () => {
  assert.deepEqual(platformOf('linux', 'x64'), { os: 'linux', arch: 'amd64' });
  assert.deepEqual(platformOf('darwin', 'arm64'), { os: 'darwin', arch: 'arm64' });
});
