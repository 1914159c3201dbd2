/** Lists the files that differ from main, with git. */

import { spawnSync } from 'node:child_process';

export interface Changes {
  /** Describes the commit that the working tree is compared to. */
  readonly base: string;
  /** Relative to the root: committed, staged, unstaged and untracked files. */
  readonly files: readonly string[];
}

/**
 * Returns the files that changed since the merge base of HEAD and main. On main itself, without changes in the working tree, that is
 * nothing: then the files of the last commit. Returns the reason as a string if git cannot tell.
 */
export function changedFiles(root: string): Changes | string {
  const main = ['main', 'origin/main'].find(
    (ref) => git(root, 'rev-parse', '--verify', '--quiet', `${ref}^{commit}`).ok,
  );
  if (!main) return '--changed needs the branch main or origin/main';
  const base = git(root, 'merge-base', 'HEAD', main);
  if (!base.ok) return `--changed needs a common commit of HEAD and ${main}: ${base.text}`;
  const since = filesSince(root, base.text);
  if (since.length > 0) return { base: `${base.text.slice(0, 12)} (merge base with ${main})`, files: since };
  const previous = git(root, 'rev-parse', '--verify', '--quiet', 'HEAD~1');
  if (!previous.ok) return `--changed: nothing differs from ${main}, and HEAD has no parent commit`;
  return {
    base: `${previous.text.slice(0, 12)} (the previous commit: nothing differs from ${main})`,
    files: filesSince(root, previous.text),
  };
}

function filesSince(root: string, commit: string): string[] {
  // Without rename detection: a renamed file is a change where it was and where it is.
  const lists = [
    git(root, 'diff', '--name-only', '--no-renames', '-z', commit),
    git(root, 'ls-files', '--others', '--exclude-standard', '-z'),
  ];
  return [...new Set(lists.flatMap(({ text }) => text.split('\0')))].filter(Boolean).sort();
}

function git(root: string, ...args: string[]): { ok: boolean; text: string } {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  return { ok: status === 0, text: status === 0 ? stdout.trim() : (stderr || error?.message || '').trim() };
}
