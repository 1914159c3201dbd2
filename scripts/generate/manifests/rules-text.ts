/** Writes RBAC rules as readable YAML: a line each, since JSON is YAML. */

interface Rule {
  readonly verbs?: readonly string[];
}

export const rulesText = (rules: readonly Rule[], indent = 0): string =>
  rules
    .map((rule) => {
      const fields = Object.entries(rule).map(
        ([field, values]) => `${field}: ${JSON.stringify(values).replaceAll(',', ', ')}`,
      );
      return `${' '.repeat(indent)}- { ${fields.join(', ')} }\n`;
    })
    .join('');
