/** Compares documents with the code: condition reasons, flags and commands, folders, packages, and links between documents. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { test } from 'node:test';
import { describeCommands } from '../../apps/cli/src/describe-commands.ts';
import { platformCommands } from '../../apps/cli/src/platform-commands.ts';
import { flagGroups } from '../../apps/platform/src/options/options.ts';

const root = new URL('../../', import.meta.url).pathname;
const read = (file: string): string => readFileSync(root + file, 'utf8');
const documents = globSync('**/*.md', { cwd: root, exclude: ['dist', '.data', 'node_modules', '**/node_modules'] });
const isTest = (file: string): boolean => /\.(test|real|bench|fuzz)\.ts$|\/testing\/|\/generated\//.test(file);
const withoutCode = (text: string): string => text.replaceAll(/^ *```[^]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Reasons of conditions that are met, and of Events, which need no entry in troubleshooting. */
const undocumented = new Set(
  'Accepted Applied Created ControllersReady Deleted Failed GatewayProgrammed MigrationAborted MigrationCompleted MigrationStarted MigrationSwitched MigrationSwitchFailed NotReady Programmed Provisioned Ready Reconciled Reached ReconcileFailed Refused Resolved Resumed RouteAccepted SchedulerReady'.split(
    ' ',
  ),
);

/** Reasons in the code of the operator: `reason: 'X'`, `refused('X', …)`, unions of reasons and named constants. */
function reasonsInCode(): Set<string> {
  const pattern =
    /reason\??(?::|\s*[=!]==)\s*((?:'[A-Z]\w+'(?:\s*\|\s*)?)+)|\b(?:refused|pending|programming)\(\s*('[A-Z]\w+')|statusOf\(pass, ('[A-Z]\w+')|[?:] \[('[A-Z]\w+'),|^export const \w+ = ('[A-Z]\w+');|^ {2}\| ('[A-Z]\w+')/gm;
  const found = new Set<string>();
  for (const file of globSync('operators/controlplane/src/**/*.ts', { cwd: root }).filter((file) => !isTest(file))) {
    for (const [, ...groups] of read(file).matchAll(pattern)) {
      for (const [, reason] of groups.join(' ').matchAll(/'(\w+)'/g)) found.add(reason!);
    }
  }
  return found;
}

test('troubleshooting has every condition reason of the operator', () => {
  const page = read('docs/troubleshooting.md');
  const missing = [...reasonsInCode()].filter((reason) => !undocumented.has(reason) && !page.includes(`\`${reason}\``));
  assert.deepEqual(missing, []);
});

test('every reason in troubleshooting is in the code', () => {
  const sources = globSync('{operators,services,apps,packages}/**/*.ts', { cwd: root })
    .filter((file) => !isTest(file) && !file.includes('node_modules'))
    .map(read)
    .join('\n');
  const named = new Set(
    Array.from(read('docs/troubleshooting.md').matchAll(/^\| `([A-Z]\w+)` \|/gm), ([, name]) => name!),
  );
  assert.ok(named.size > 20);
  assert.deepEqual(
    [...named].filter((name) => !sources.includes(`'${name}'`)),
    [],
  );
});

test('every command and every flag of `hangar` that documents name exists', () => {
  const commands = new Set([...platformCommands, ...describeCommands()].map(({ name }) => name));
  const flags = new Set([...flagGroups.flatMap((group) => group.flags.map(({ name }) => name)), 'help']);
  const wrong: string[] = [];
  for (const file of documents.filter((name) => name !== 'CHANGELOG.md' && !name.startsWith('docs/adr/'))) {
    const text = read(file);
    for (const [, command] of text.matchAll(/(?:^|`|\$ )(?:npx )?hangar ([a-z][a-z-]+)(?=[ `\n])/gm)) {
      if (!commands.has(command!)) wrong.push(`${file}: hangar ${command}`);
    }
    for (const [, line] of text.matchAll(/(?:npm start -- |hangar up )([^\n`]*)/g)) {
      for (const [, flag] of line!.matchAll(/--([a-z][a-z-]+)/g))
        if (!flags.has(flag!)) wrong.push(`${file}: --${flag}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the reference has every command', () => {
  const page = read('docs/reference/commands.md');
  for (const { name } of [...platformCommands, ...describeCommands()]) {
    assert.match(page, new RegExp(`^## hangar ${name}$`, 'm'));
  }
});

/** A tree is a code block whose first line is a folder; its lines name files and folders before two blanks. */
function trees(): { folder: string; names: string[] }[] {
  const blocks = read('ARCHITECTURE.md').matchAll(/^```\n((?:packages|operators|services|apps)\/\S+)\n([^]*?)^```$/gm);
  return Array.from(blocks, ([, folder, body]) => ({
    folder: folder!,
    names: body!
      .split('\n')
      .flatMap((line) => line.trim().split(/ {2,}/)[0]!.split(' '))
      .filter((name) => /\/$|\.ts$/.test(name)),
  }));
}

test('the trees of ARCHITECTURE have every folder, and no file or folder that does not exist', () => {
  assert.ok(trees().length >= 9);
  for (const { folder, names } of trees()) {
    for (const name of names) assert.ok(existsSync(join(root, folder, name)), `${folder}/${name} does not exist`);
    const folders = readdirSync(root + folder).filter((name) => statSync(join(root, folder, name)).isDirectory());
    const missing = folders.filter(
      (name) => name !== 'testing' && !names.some((named) => named === `${name}/` || named.startsWith(`${name}/`)),
    );
    assert.deepEqual(missing, [], `folders of ${folder} that ARCHITECTURE does not have`);
  }
});

test('README has every package with the description of its package.json', () => {
  const rows = read('README.md').matchAll(
    /^\| \[[^\]]+\]\(((?:packages|operators|services|apps)\/[^)]+)\) \| (.+) \|$/gm,
  );
  const described = Object.fromEntries(
    Array.from(rows, ([, folder, text]) => [folder!, text!.replaceAll(/[*`]/g, '')]),
  );
  const manifests = globSync('{packages,operators,services,apps}/*/package.json', { cwd: root });
  const descriptions = manifests.map((file) => [
    dirname(file),
    (JSON.parse(read(file)) as { description: string }).description,
  ]);
  const lowerCased = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
  assert.deepEqual(
    Object.fromEntries(Object.entries(described).map(([folder, text]) => [folder, lowerCased(text)])),
    Object.fromEntries(descriptions.map(([folder, text]) => [folder, lowerCased(text!)])),
  );
});

/** The anchor that GitHub gives to a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

test('links between documents lead to files and headings that exist', () => {
  const broken: string[] = [];
  for (const file of documents) {
    for (const [, link] of withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue;
      const [path = '', anchor] = link!.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(root + target)) broken.push(`${file}: ${link}`);
      else if (anchor !== undefined && anchor !== '') {
        const page = target.endsWith('.md') ? target : join(target, 'README.md');
        const headings = Array.from(read(page).matchAll(/^#{1,6} (.+)$/gm), ([, heading]) => anchorOf(heading!));
        if (!headings.includes(anchor)) broken.push(`${file}: ${link}`);
      }
    }
  }
  assert.deepEqual(broken, []);
});
