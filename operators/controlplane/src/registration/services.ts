/** The services of a registration, as they are stored: in lower case, each once, in the order in which they were said. */

export const canonicalServices = (services: readonly string[]): string[] => [
  ...new Set(services.map((service) => service.toLowerCase())),
];

export const isCanonical = (services: readonly string[]): boolean =>
  services.every((service) => service === service.toLowerCase());

/** In whatever case it is written. */
export const hasService = (services: readonly string[] | undefined, service: string): boolean =>
  services?.some((one) => one.toLowerCase() === service) ?? false;
