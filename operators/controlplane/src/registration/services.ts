/** The services of a registration, in stored form: in lower case, without duplicates, in the given order. */

export const canonicalServices = (services: readonly string[]): string[] => [
  ...new Set(services.map((service) => service.toLowerCase())),
];

export const isCanonical = (services: readonly string[]): boolean =>
  services.every((service) => service === service.toLowerCase());

/** The services that a dedicated control plane has itself: its own kube-controller-manager and kube-scheduler. */
export const dedicatedServices: readonly string[] = ['controllers', 'scheduler'];

/** Ignores case. */
export const hasService = (services: readonly string[] | undefined, service: string): boolean =>
  services?.some((one) => one.toLowerCase() === service) ?? false;
