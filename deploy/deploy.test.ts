// The files in deploy/ match the service: every metric, variable and command that they name exists.

import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { version } from '../package.json' with { type: 'json' };
import { MAX_BATCH_BYTES } from '../src/api/batch-operation.ts';
import type { FollowerStatus } from '../src/chain/follow/follower-status.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { VARIABLES } from '../src/service/config.ts';
import { createMetrics, prometheusText } from '../src/service/metrics.ts';
import { findPromtool } from '../test/support/programs.ts';

const ROOT = `${import.meta.dir}/..`;
const read = (path: string) => Bun.file(`${ROOT}/${path}`).text();
const yaml = async (path: string) => Bun.YAML.parse(await read(path)) as unknown;
const allOf = (pattern: RegExp, text: string) => [
  ...new Set([...text.matchAll(pattern)].map(([, found = '']) => found)),
];
const sources = (
  await Promise.all(
    readdirSync(`${ROOT}/src`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .map((path) => read(`src/${path}`)),
  )
).join('\n');

/** In the sources, a string literal starts with a metric's name, followed by nothing, a value or labels. */
const METRICS = allOf(/['"`]((?:delegations|process)_[a-z_]+)(?=['"` {])/g, sources).filter(
  (name) => name !== 'delegations_session',
);
/** A histogram has three kinds of series. */
const familyOf = (name: string) => name.replace(/^(\w+_duration_seconds)_(bucket|sum|count)$/, '$1');
const metricsIn = (text: string) => [...new Set(allOf(/\b((?:delegations|process)_[a-z_]+)/g, text).map(familyOf))];
const VIEW_NAMES = ['delegations_history', 'delegations_current'];
const unknownIn = (text: string) => metricsIn(text).filter((name) => ![...METRICS, ...VIEW_NAMES].includes(name));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}
const { groups } = (await yaml('deploy/prometheus/rules.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}
const dashboard = JSON.parse(await read('deploy/grafana/dashboard.json')) as {
  panels: Panel[];
  templating: { list: { name: string; query: unknown }[] };
};
const operating = await read('docs/operating.md');
const runbook = await read('docs/runbook.md');

test('the rendered metrics are those in the sources', () => {
  const followerStatus: FollowerStatus = {
    chainId: 1,
    firstBlock: 1,
    block: 2,
    tip: 3,
    logs: 1,
    logsPerSecond: 1,
    secondsLeft: null,
    providers: [{ name: '1', healthy: true, cause: null }],
    providerFailures: { '1': { timeout: 1 } },
    rpc: { '1/1': { calls: { eth_getLogs: { ok: 1 } }, latency: { counts: [1], sum: 1, total: 1 } } },
    events: { reorg: 1 },
    audited: 1,
    compared: 1,
    evidence: { bloom: 1, receipts: 1, compared: 1 },
    standby: false,
    failures: 1,
    failing: { cause: 'database-full', since: 1, ticks: 1 },
  };
  const stats = { cpuSeconds: 1, residentBytes: 1, startTime: 1, openFiles: 1 };
  const counts = { active: 1, unconfirmed: 0, paused: 0, failing: 0, gone: 0, 'no-active-key': 0 };
  const webhooks = { counts, pending: [{ id: 1, since: 1 }], readAt: 2 };
  const metrics = createMetrics().list({
    store: { bytes: 1, chains: [], webhooks },
    followers: [followerStatus],
    health: { limiterShared: true, replicaFresh: true },
    workers: { alive: 1, restarts: 0 },
    processes: [{ name: 'api', stats, pool: { size: 8, running: 1 }, streams: 1 }],
  });
  const rendered = allOf(/^# TYPE (\S+)/gm, prometheusText(metrics));
  expect(rendered.length).toBeGreaterThan(10);
  expect(rendered.sort()).toEqual(METRICS.sort());
});

describe('alerts', () => {
  test('use metrics that exist', () => {
    expect(rules.length).toBeGreaterThan(5);
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  test('say what happened and what to do', () => {
    for (const { labels, annotations } of rules) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary.length).toBeGreaterThan(10);
      expect(annotations.description.length).toBeGreaterThan(annotations.summary.length);
    }
  });

  test('each have a section in the runbook, and a link to it', () => {
    const sections = runbook.split(/^## /m).slice(1);
    const names = sections.map((section) => section.split('\n')[0]);
    expect(names.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    for (const { alert, labels, annotations } of rules) {
      const section = sections.find((one) => one.startsWith(`${alert}\n`));
      expect(section, alert).toContain(labels.severity === 'critical' ? '**Critical.**' : '**Warning.**');
      expect(annotations.runbook_url).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
    for (const link of allOf(/\]\(#(\w+)\)/g, runbook))
      expect(rules.map(({ alert }) => alert.toLowerCase())).toContain(link);
    expect(unknownIn(runbook)).toEqual([]);
  });

  test('pass promtool, with their tests', () => {
    const promtool = findPromtool();
    const folder = `${import.meta.dir}/prometheus`;
    for (const args of [
      ['check', 'rules', 'rules.yaml'],
      ['test', 'rules', 'rules.test.yaml'],
    ]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync([promtool, ...args], { cwd: folder });
      expect(exitCode, `${stdout}${stderr}`).toBe(0);
    }
  });

  test('have unique names', () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
  });

  test('use event types that followers emit', () => {
    const types = rules.flatMap(({ expr }) => allOf(/type=~"([^"]+)"/g, expr)).flatMap((text) => text.split('|'));
    expect(types).toContain('differs');
    for (const type of types) expect(sources).toContain(`readonly type: '${type}'`);
  });

  test('in the rule tests exist', async () => {
    const examples = await read('deploy/prometheus/rules.test.yaml');
    const known = rules.map(({ alert }) => alert);
    expect(allOf(/alertname: (\w+)/g, examples).filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard;
  const drawn = panels.filter(({ type }) => type !== 'row');

  test('uses every metric that exists, and no other', () => {
    const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    expect(unknownIn(asked + JSON.stringify(templating))).toEqual([]);
    expect(METRICS.filter((name) => !metricsIn(asked).includes(name))).toEqual([]);
  });

  test('works with any Prometheus data source', () => {
    const names = templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'job', 'chain']);
    for (const { targets = [] } of drawn) {
      expect(targets.length).toBeGreaterThan(0);
      for (const { datasource, expr } of targets) {
        expect(datasource.uid).toBe('${' + 'datasource}');
        for (const name of allOf(/\$(?!__)\{?(\w+)/g, expr)) expect(names).toContain(name);
      }
    }
  });

  test('has no overlapping panels', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });
});

/** The variable's name in the table: RPC_URL_1 is RPC_URL_<chainId>. */
const isVariable = (name: string) => {
  const [, common, chainId] = /^([A-Z_]+_)(\d+)$/.exec(name) ?? [];
  if (chainId !== undefined && !NETWORKS.has(Number(chainId))) return false;
  return VARIABLES.some(([known]) => known === (common === undefined ? name : `${common}<chainId>`));
};
const isCommand = (name: string | undefined) => COMMANDS.some((one) => one.name === name);

describe('containers', () => {
  interface Composed {
    readonly image: string;
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  }

  test('set variables that exist, and contain no secret', async () => {
    const { services } = (await yaml('deploy/compose.yaml')) as { services: Record<string, Composed> };
    const ours = Object.values(services).filter(({ image }) => image === `delegations:${version}`);
    expect(ours.map(({ command }) => command?.[0]).sort()).toEqual(['api', 'follow', 'follow']);
    for (const { command, environment = {} } of ours) {
      expect(isCommand(command?.[0])).toBe(true);
      expect(Object.keys(environment).filter((name) => !isVariable(name))).toEqual([]);
    }
    for (const { environment = {} } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|^RPC_URL|^DATABASE/.test(name)) expect(value).toMatch(/\$\{(POSTGRES_PASSWORD|RPC_URL_1):\?/);
    }
    const nginx = services['nginx']?.networks as Record<string, { ipv4_address?: string }>;
    expect(services['api']?.environment?.['TRUSTED_PROXIES']).toBe(String(nginx['front']?.ipv4_address));
  });

  test('start a command that exists as an unprivileged user, with variables that exist', async () => {
    const image = await read('deploy/Dockerfile');
    expect(image).toMatch(/^USER \d+:\d+$/m);
    const [command] = allOf(/^CMD \["(\w+)"\]$/gm, image);
    expect(isCommand(command)).toBe(true);
    const environment = allOf(/^ENV (.*)$/gm, image).flatMap((line) => allOf(/(?:^| )([A-Z_]+)=/g, line));
    expect(environment.length).toBeGreaterThan(0);
    expect(environment.filter((name) => !isVariable(name))).toEqual([]);
  });

  test('have health checks that are commands with options that exist', async () => {
    const checks = [await read('deploy/Dockerfile'), await read('deploy/compose.yaml')].flatMap((text) =>
      allOf(/"\/usr\/local\/bin\/delegations", ("health"[^\]]*)\]/g, text),
    );
    expect(checks).toEqual(['"health"', '"health", "--follower"']);
    const { options = {} } = COMMANDS.find(({ name }) => name === 'health') ?? {};
    expect(Object.keys(options)).toContain('follower');
  });
});

describe('kubernetes', () => {
  interface Workload {
    readonly kind: string;
    readonly spec: {
      readonly replicas: number;
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
      readonly template: {
        readonly metadata: { readonly labels: Readonly<Record<string, string>> };
        readonly spec: {
          readonly securityContext: {
            readonly runAsNonRoot: boolean;
            readonly runAsUser: number;
            readonly runAsGroup: number;
          };
          readonly terminationGracePeriodSeconds: number;
          readonly containers: readonly {
            readonly args: readonly string[];
            readonly image: string;
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
            readonly securityContext: unknown;
            readonly resources: { readonly requests: object; readonly limits: object };
            readonly livenessProbe?: object;
            readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
          }[];
        };
      };
    };
  }
  const folder = 'deploy/kubernetes';
  const workload = async (name: string) => (await yaml(`${folder}/${name}.yaml`)) as Workload;

  test('a PodMonitor scrapes all pods as the one job that the rules group by', async () => {
    const { spec } = (await yaml('deploy/prometheus/pod-monitor.yaml')) as {
      spec: {
        jobLabel: string;
        selector: { matchLabels: Readonly<Record<string, string>> };
        podMetricsEndpoints: { port: string }[];
      };
    };
    const { scrape_configs: jobs } = (await yaml('deploy/prometheus/prometheus.yaml')) as {
      scrape_configs: { job_name: string }[];
    };
    for (const role of ['api', 'follower']) {
      const { metadata, spec: pod } = (await workload(role)).spec.template;
      expect(metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(metadata.labels[spec.jobLabel]).toBe(String(jobs[0]?.job_name));
      const ports = pod.containers.flatMap((container) => container.ports.map(({ name }) => name));
      for (const { port } of spec.podMetricsEndpoints) expect(ports).toContain(port);
    }
  });

  test('lists every manifest, and each disruption budget and service selects a workload', async () => {
    const { resources, images } = (await yaml(`${folder}/kustomization.yaml`)) as {
      resources: string[];
      images: { newTag: string }[];
    };
    expect(images.map(({ newTag }) => newTag)).toEqual([version]);
    const files = readdirSync(`${ROOT}/${folder}`).filter((name) => name.endsWith('.yaml'));
    expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
    for (const role of ['api', 'follower']) {
      const { spec } = await workload(role);
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
      const budget = (await yaml(`${folder}/${role}-disruption.yaml`)) as Workload & { spec: { minAvailable: number } };
      expect(budget.spec.selector.matchLabels).toEqual(spec.selector.matchLabels);
      expect(budget.spec.minAvailable).toBeLessThan(spec.replicas);
    }
    const { spec: policy } = (await yaml(`${folder}/network-policy.yaml`)) as {
      spec: {
        podSelector: { matchLabels: Readonly<Record<string, string>> };
        ingress: { from: unknown[]; ports: { port: string }[] }[];
      };
    };
    const ports = new Set<string>();
    for (const role of ['api', 'follower']) {
      const { template } = (await workload(role)).spec;
      expect(template.metadata.labels).toMatchObject(policy.podSelector.matchLabels);
      for (const { name } of template.spec.containers[0]?.ports ?? []) ports.add(name);
    }
    expect(policy.ingress.map(({ from, ports }) => [from.length, ports.map(({ port }) => port)])).toEqual(
      [...ports].map((port) => [1, [port]]),
    );
    const service = (await yaml(`${folder}/api-service.yaml`)) as { spec: { selector: object } };
    expect(service.spec.selector).toEqual((await workload('api')).spec.selector.matchLabels);
  });

  test('start commands that exist on the ports of the image, unprivileged, with probes and resources', async () => {
    const image = await read('deploy/Dockerfile');
    for (const role of ['api', 'follower']) {
      const { spec } = (await workload(role)).spec.template;
      const [container, ...others] = spec.containers;
      if (container === undefined) throw new Error(`${role} has no container`);
      expect(others).toEqual([]);
      expect(isCommand(container.args[0])).toBe(true);
      expect(container.image).toBe('delegations');
      for (const { containerPort } of container.ports)
        expect(image).toMatch(new RegExp(`^EXPOSE .*\\b${containerPort}\\b`, 'm'));
      const { runAsUser, runAsGroup } = spec.securityContext;
      expect(image).toContain(`USER ${runAsUser}:${runAsGroup}\n`);
      expect(spec.securityContext.runAsNonRoot).toBe(true);
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.livenessProbe).toBeDefined();
      expect(Object.keys(container.resources).sort()).toEqual(['limits', 'requests']);
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(15);
    }
    expect((await workload('api')).spec.template.spec.containers[0]?.readinessProbe?.httpGet.path).toBe('/ready');
  });

  test('set variables that exist, and contain no secret', async () => {
    for (const file of ['config.env', 'secret.env.example']) {
      const names = allOf(/^([A-Z_0-9]+)=/gm, await read(`${folder}/${file}`));
      expect(names.length).toBeGreaterThan(2);
      expect(names.filter((name) => !isVariable(name))).toEqual([]);
    }
    expect(await read(`${folder}/.gitignore`)).toBe('secret.env\n');
  });
});

test.each(['deploy/nginx.conf', 'deploy/systemd/nginx.conf'])(
  '%s bounds the connections of an address, and lets batches through',
  async (path) => {
    const nginx = await read(path);
    const [zone = ''] = allOf(/^limit_conn_zone \$binary_remote_addr zone=(\w+):/gm, nginx);
    expect(allOf(new RegExp(`^ {2}limit_conn ${zone} (\\d+);$`, 'gm'), nginx)).toEqual(['100']);
    expect(nginx).toContain('limit_conn_status 429;');
    // Empty, and so not sent, without TLS.
    expect(nginx).toMatch(/^map \$https \$hsts \{\n {2}default "";\n {2}on "max-age=\d{8}";\n\}$/m);
    expect(nginx).toContain('  add_header Strict-Transport-Security $hsts always;');
    expect(nginx).toContain(`client_max_body_size ${MAX_BATCH_BYTES / 1024 / 1024}m;`);
  },
);

describe('units', () => {
  const units = readdirSync(`${import.meta.dir}/systemd`).filter((name) => name.endsWith('.service'));

  test('start commands that exist and give them time to stop', async () => {
    expect(units.length).toBe(3);
    for (const unit of units) {
      const text = await read(`deploy/systemd/${unit}`);
      const [command] = allOf(/^ExecStart=.*\/delegations (\w+)$/gm, text);
      expect(isCommand(command)).toBe(true);
      expect(Number(allOf(/^TimeoutStopSec=(\d+)$/gm, text)[0])).toBeGreaterThan(15);
      const set = allOf(/(?:^Environment=|env | )([A-Z_]+)=\S/gm, text);
      expect(set.filter((name) => !isVariable(name))).toEqual([]);
    }
  });

  test('are confined: at most 2.0 by systemd-analyze security', async () => {
    for (const unit of units) {
      const lines = (await read(`deploy/systemd/${unit}`)).split('\n');
      const missing = [
        ...[
          'NoNewPrivileges=yes',
          'CapabilityBoundingSet=',
          'ProtectSystem=strict',
          'ProtectHome=yes',
          'PrivateMounts=yes',
        ],
        ...[
          'SystemCallArchitectures=native',
          'SystemCallFilter=@system-service',
          'SystemCallFilter=~@privileged @resources',
        ],
        ...['SystemCallErrorNumber=EPERM', 'RestrictNamespaces=yes', 'RemoveIPC=yes', 'UMask=0077'],
      ].filter((line) => !lines.includes(line));
      expect([unit, missing]).toEqual([unit, []]);
      const analyze = Bun.which('systemd-analyze');
      if (analyze === null) continue;
      const run = (...args: string[]) => Bun.spawnSync([analyze, ...args]);
      const [, version] = /^systemd (\d+)/.exec(run('--version').stdout.toString()) ?? [];
      // Older versions cannot read a file.
      if (Number(version) < 250) continue;
      const { stdout, exitCode } = run(
        ...['security', '--offline=true', '--no-pager', '--threshold=20', `${import.meta.dir}/systemd/${unit}`],
      );
      const [level = ''] = stdout.toString().match(/Overall exposure level.*/) ?? [];
      console.log(level);
      expect([level, exitCode]).toEqual([level, 0]);
    }
  });

  test('read an environment file with variables that exist', async () => {
    const names = allOf(/^#?([A-Z_0-9]+)=/gm, await read('deploy/systemd/delegations.env'));
    expect(names).toContain('RPC_URL_1');
    expect(names.filter((name) => !isVariable(name))).toEqual([]);
  });
});

test('the load balancer for systemd reaches the units, without directives that Debian 12 lacks', async () => {
  const conf = await read('deploy/systemd/nginx.conf');
  expect(allOf(/server 127\.0\.0\.1:(\d+)/g, conf)).toEqual(['8081', '8082']);
  expect(await read('docs/operating.md')).toContain('delegations-api@8081 delegations-api@8082');
  // Both are newer than nginx 1.22, unless it is a commercial one.
  expect(conf).not.toMatch(/\bresolve\b|\bhttp2 on\b/);
});

describe('docs/operating.md', () => {
  test('documents every metric, and no other', () => {
    expect(METRICS.filter((name) => !metricsIn(operating).includes(name))).toEqual([]);
    expect(unknownIn(operating)).toEqual([]);
  });

  test('documents every variable', () => {
    expect(VARIABLES.map(([name]) => name).filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
  });

  test('backs up every account table', async () => {
    const tables = allOf(/CREATE TABLE (\w+)/g, await read('src/accounts/schema.ts'));
    expect(tables.length).toBe(7);
    const [dump = ''] = /pg_dump[^`]*/.exec(operating) ?? [];
    const [lite = ''] = /\.dump[^`]*/.exec(operating) ?? [];
    for (const table of [...tables, 'account_schema_version']) {
      expect(dump).toMatch(new RegExp(`\\b${table}\\b`));
      expect(lite).toMatch(new RegExp(`\\b${table}\\b`));
    }
  });

  test('links to files that exist', async () => {
    const paths = [...allOf(/\]\((?!http)([^)#]+)\)/g, operating).map((path) => `docs/${path}`)];
    paths.push(...allOf(/`(deploy\/[^`*\s]+[a-zA-Z])`/g, operating));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(await Bun.file(`${ROOT}/${path}`).exists(), path).toBe(true);
  });
});
