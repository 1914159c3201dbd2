/** The files that contain the version of Hangar, and how it is read and replaced. */

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each of these contains the version at least once, and no other package's version that is equal to it by chance. */
const patterns = [
  'package.json',
  '{packages,operators,services,apps,examples}/*/package.json',
  'apps/{platform,controller-manager,hosted-operator}/src/version.ts',
  'packages/client/src/rest/caller.ts',
  'deploy/image/{Containerfile,controller-manager.Containerfile}',
  'deploy/charts/*/Chart.yaml',
  'deploy/README.md',
  'docs/install.md',
  'docs/guides/write-an-operator.md',
];

const filesWith = (root: string): string[] => patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).sort());

const occurrences = (version: string): RegExp =>
  new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d]|\\.\\d)`, 'g');

export const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string }).version;

/** Returns one line for each file that disagrees with the version in the package.json of the root. */
export function versionProblems(root: string): string[] {
  const version = versionOf(root);
  const problems = filesWith(root)
    .filter((file) => readFileSync(join(root, file), 'utf8').match(occurrences(version)) === null)
    .map((file) => `${file} does not contain the version ${version}`);
  for (const file of globSync('{packages,operators,services,apps,examples}/*/package.json', { cwd: root }).sort()) {
    const manifest = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      readonly version: string;
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    if (manifest.version !== version) problems.push(`${file}: the version is ${manifest.version}, not ${version}`);
    for (const [name, wanted] of Object.entries(manifest.dependencies ?? {})) {
      if (name.startsWith('@hangar/') && wanted !== version)
        problems.push(`${file}: ${name} is ${wanted}, not ${version}`);
    }
  }
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.includes('\n## Unreleased\n') && !changelog.includes(`\n## ${version}\n`)) {
    problems.push(`CHANGELOG.md has neither the section "Unreleased" nor "${version}"`);
  }
  return problems;
}

/** Replaces the version in all files, and names the section "Unreleased" of CHANGELOG.md after it. */
export function setVersion(root: string, next: string): void {
  const current = occurrences(versionOf(root));
  for (const file of filesWith(root)) {
    const text = readFileSync(join(root, file), 'utf8');
    writeFileSync(join(root, file), text.replaceAll(current, next));
  }
  const changelog = join(root, 'CHANGELOG.md');
  writeFileSync(changelog, readFileSync(changelog, 'utf8').replace('\n## Unreleased\n', `\n## ${next}\n`));
}
