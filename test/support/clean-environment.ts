// The environment of tests: what configures a service on this machine must not configure those that tests start.

import { VARIABLES } from '../../src/service/config.ts';

const OWN = new RegExp(
  `^(${VARIABLES.map(([name]) => name.replace('<chainId>', '.*')).join('|')}|OTEL_.*|DELEGATIONS_.*)$`,
);

export function cleanEnvironment(environment: Record<string, string | undefined>): void {
  for (const name of Object.keys(environment)) if (OWN.test(name)) delete environment[name];
}
