/** Expands `$(NAME)` in commands, arguments and environment variables, as the kubelet does. */

/**
 * Replaces `$(NAME)` by the value of the variable. An unknown variable stays as it is written, and `$$` becomes `$`.
 *
 *     expand('--name=$(POD) $$(POD) $(OTHER)', { POD: 'a' })  →  '--name=a $(POD) $(OTHER)'
 */
export const expand = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$(?:\$|\(([^)]*)\))/g, (found, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(variables, name) ? variables[name]! : found;
  });
