/** Alert rules of Prometheus, as operators declare them beside their metrics. */

export interface Alert {
  readonly alert: string;
  /** PromQL: fires for each series of the result. */
  readonly expr: string;
  /** How long the expression must hold. */
  readonly for: string;
  /** `critical`: something cannot be used. `warning`: it can, but needs attention. */
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}

export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** Returns the groups in the format of Prometheus. `runbookPage`: path of the page with a section for each alert. */
export const alertRuleGroups = (groups: readonly AlertGroup[], runbookPage: string) =>
  groups.map(({ name, alerts }) => ({
    name,
    rules: alerts.map(({ alert, expr, for: duration, severity, summary, description }) => ({
      alert,
      expr,
      for: duration,
      labels: { severity },
      annotations: { summary, description, runbook_url: `${runbookPage}#${alert.toLowerCase()}` },
    })),
  }));
