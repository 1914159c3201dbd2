/**
 * Names of everything that nodes create outside of their namespaces: a folder, a bridge and cgroups. Each contains the id of the process
 * that created it, so that a later run recognizes leftovers of a process that was killed.
 */

import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'hangar-nodes';

/** Pattern of the folders and cgroups; the group is the process id. */
export const ownedName = /^hangar-nodes-(\d+)(?:-|$)/;
/** Pattern of the bridges and network interfaces; the group is the process id. */
export const ownedInterface = /^hgn(\d+)(?:-|$)/;

export const folderPrefix = (): string => join(tmpdir(), `${prefix}-${process.pid}-`);
export const cgroupName = (node: string): string => `${prefix}-${process.pid}-${node}`;
/** Of the bridge. The cable of node N has the suffix `-N`. */
export const interfaceName = (): string => `hgn${process.pid}`;
