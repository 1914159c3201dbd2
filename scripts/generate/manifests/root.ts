/** Of the repository: what is generated is named by its path below it. */
export const root = new URL('../../../', import.meta.url);
