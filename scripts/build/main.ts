/** `npm run build`: compiles the packages, stages them in dist/packages and writes their tarballs to dist/tarballs, and the files of clusterctl to dist/cluster-api. See RELEASE.md. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../../tools/lock.ts';
import { readCommandLine, runCommand } from '../command-line.ts';
import { clusterApiFiles } from './cluster-api.ts';
import { compile } from './compile.ts';
import { stageHangar } from './hangar-package.ts';
import { readManifest, root, sourcePackages } from './packages.ts';
import { stage } from './stage.ts';
import { packAll, tarballFolder } from './tarballs.ts';

await runCommand(async () => {
  const { values } = readCommandLine(process.argv.slice(2), {
    usage: 'npm run build --',
    options: {
      clean: { help: 'remove dist first, so that everything is compiled again' },
      image: { value: 'NAME', help: 'image in the files of clusterctl (default: localhost/hangar:VERSION)' },
    },
    names: [],
  });
  if (values.clean) rmSync(join(root, 'dist'), { recursive: true, force: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  await withLock({ path: join(root, 'dist/build.lock') }, async () => build(values.image));
  return true;
});

function build(image: string | undefined): void {
  const packages = sourcePackages();
  const sources = timed('compile', () => compile(packages));
  const folders = timed('stage', () => {
    const staged = packages.map((one) => [one, stage(one, sources)] as const);
    return [...staged.filter(([{ isLibrary }]) => isLibrary).map(([, folder]) => folder), stageHangar()];
  });
  const written = timed('pack', () => packAll(folders));
  timed('cluster-api', () => writeClusterApiFiles(image));
  console.log(`${folders.length} tarballs in ${tarballFolder}, ${written.length} of them changed`);
}

function writeClusterApiFiles(image: string | undefined): void {
  const folder = join(root, 'dist/cluster-api');
  mkdirSync(folder, { recursive: true });
  const { version } = readManifest('.');
  for (const [name, text] of clusterApiFiles({ version, image: image ?? `localhost/hangar:${version}` })) {
    writeFileSync(join(folder, name), text);
  }
}

function timed<T>(name: string, work: () => T): T {
  const startMs = performance.now();
  const result = work();
  console.log(`✔ ${name}  ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  return result;
}
