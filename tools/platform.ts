/** The platform in the words of Go, which etcd's and Kubernetes' releases use as well. */

export interface Platform {
  os: string;
  arch: string;
}

export function platformOf(nodePlatform: string, nodeArch: string): Platform {
  return { os: nodePlatform === 'win32' ? 'windows' : nodePlatform, arch: nodeArch === 'x64' ? 'amd64' : nodeArch };
}
