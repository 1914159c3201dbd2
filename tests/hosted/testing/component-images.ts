/** The images of hosted control planes and of their workers on real nodes, under the names that the operator renders. */

import { newestRendering, renderAll, renderings } from '../../../operators/hosted/src/render/index.ts';
import type { Rendered } from '../../../operators/hosted/src/render/index.ts';
import { plane } from '../../../operators/hosted/src/render/testing/planes.ts';
import { workloadObjects } from '../../../operators/hosted/src/workload/objects.ts';
import type { Alias } from '../../conformance/nodes/images.ts';
import { catalogue } from '../../nodes/images/catalogue.ts';
import type { ImageName } from '../../nodes/images/catalogue.ts';

/** The images of a node, with the names in pods. Nothing pulls them from a registry, because the node has them. */
export interface NodeImages {
  readonly images: readonly ImageName[];
  readonly aliases: readonly Alias[];
}

/** Images of the components of all `versions`, for a node of the management cluster. */
export const componentImages = (versions: readonly string[]): NodeImages =>
  imagesOf(versions.flatMap((version) => renderAll(renderings.get(newestRendering)!, plane({ version }), {})));

/** Images of the addons, for a worker. */
export const addonImages = (version: string): NodeImages =>
  imagesOf(
    workloadObjects(plane({ version }), { server: 'https://192.0.2.1:6443', konnectivity: undefined, authority: '' }),
  );

function imagesOf(all: readonly Rendered[]): NodeImages {
  const names = new Set(Array.from(JSON.stringify(all).matchAll(/"image":"([^"]+)"/g), ([, name]) => name!));
  const aliases = Array.from(names, (name) => ({ name, image: imageOf(name) }));
  return { aliases, images: [...new Set(aliases.map(({ image }) => image))] };
}

/** Returns the image of the same repository and minor version, or the only one of the repository. */
function imageOf(name: string): ImageName {
  const [repository = '', tag = ''] = name.slice(name.lastIndexOf('/') + 1).split(':');
  const [minor] = /\d+\.\d+/.exec(tag) ?? [];
  const found = [`${repository}-${minor}`, repository].find((one) => Object.hasOwn(catalogue, one));
  if (found === undefined) throw new Error(`tests/nodes/images has no image for ${name}`);
  return found as ImageName;
}
