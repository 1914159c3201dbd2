import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { changedFiles } from './changed-files.ts';
import type { Changes } from './changed-files.ts';

const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];

async function repository(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'hangar-changed-files-'));
  t.after(() => rm(root, { recursive: true }));
  const git = (...args: string[]) => execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' });
  const write = (file: string, text: string) => writeFile(join(root, file), text);
  const commit = async (file: string): Promise<void> => {
    await write(file, file);
    git('add', '.');
    git('commit', '--quiet', '-m', file);
  };
  git('init', '--quiet', '--initial-branch=main');
  await commit('first');
  return { root, git, write, commit };
}

const filesOf = (changes: Changes | string): readonly string[] => (changes as Changes).files;

test('on a branch: committed, unstaged and untracked files since the merge base, and no later files of main', async (t) => {
  const { root, git, write, commit } = await repository(t);
  git('switch', '--quiet', '-c', 'work');
  await commit('committed');
  await write('first', 'changed');
  await write('untracked', '');
  assert.deepEqual(filesOf(changedFiles(root)), ['committed', 'first', 'untracked']);
  git('stash', '--quiet', '--include-untracked');
  git('switch', '--quiet', 'main');
  await commit('later');
  git('switch', '--quiet', 'work');
  assert.deepEqual(filesOf(changedFiles(root)), ['committed']);
});

test('on main: the files of the last commit', async (t) => {
  const { root, commit } = await repository(t);
  await commit('second');
  const changes = changedFiles(root);
  assert.deepEqual(filesOf(changes), ['second']);
  assert.match((changes as Changes).base, /previous commit/);
});

test('a repository without main, or with one commit, gets a reason', async (t) => {
  const { root, git } = await repository(t);
  assert.match(changedFiles(root) as string, /no parent commit/);
  git('branch', '--move', 'trunk');
  assert.match(changedFiles(root) as string, /needs the branch main/);
});
