import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeSkeleton } from './skeleton.ts';

test('only folders above a mount are real, and everything else is a link to the base', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-skeleton-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const [base, root] = [join(folder, 'base'), join(folder, 'root')];
  for (const path of ['usr/bin', 'etc/ssl', 'etc/kubernetes/manifests', 'proc']) {
    mkdirSync(join(base, path), { recursive: true });
  }
  writeFileSync(join(base, 'etc/hosts'), 'of the machine');
  const options = {
    root,
    base,
    mountPoints: [
      { target: '/etc/kubernetes/pki', isFolder: true },
      { target: '/etc/kubernetes/admin.conf', isFolder: false },
      { target: '/new/deep', isFolder: true },
    ],
    links: { '/etc/hosts': '/.pod/hosts' },
  };
  await makeSkeleton(options);
  assert.equal(readlinkSync(join(root, 'usr')), '/.base/usr');
  assert.equal(readlinkSync(join(root, 'etc/ssl')), '/.base/etc/ssl');
  assert.equal(readlinkSync(join(root, 'etc/hosts')), '/.pod/hosts');
  assert.equal(readlinkSync(join(root, 'etc/kubernetes/manifests')), '/.base/etc/kubernetes/manifests');
  assert.ok(lstatSync(join(root, 'etc/kubernetes/pki')).isDirectory());
  assert.ok(lstatSync(join(root, 'etc/kubernetes/admin.conf')).isFile());
  assert.ok(lstatSync(join(root, 'new/deep')).isDirectory());
  // Mounted from the machine.
  assert.deepEqual(readdirSync(join(root, 'proc')), []);
  // A second run of the container replaces the folder.
  await makeSkeleton({ ...options, mountPoints: [] });
  assert.equal(readlinkSync(join(root, 'etc/kubernetes')), '/.base/etc/kubernetes');
});
