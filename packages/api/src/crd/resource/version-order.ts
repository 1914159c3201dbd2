/** Orders versions like Kubernetes: `v10` over `v2` over `v1beta2` over `v1alpha1` over others by their letters. */

const kubeVersion = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/** Positive when `a` is to be preferred. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const [first, second] = [kubeVersion.exec(a), kubeVersion.exec(b)];
  if (first === null && second === null) return a < b ? 1 : -1;
  if (first === null || second === null) return first === null ? -1 : 1;
  const stage = (match: RegExpExecArray): number => (match[2] === undefined ? 2 : stages[match[2]]!);
  return (
    stage(first) - stage(second) ||
    Number(first[1]) - Number(second[1]) ||
    Number(first[3] ?? 0) - Number(second[3] ?? 0)
  );
}
